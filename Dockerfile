# The gateway, alone: a static binary and the certificates of public authorities.
#
#   docker build --tag callwright .
#   docker run --publish 127.0.0.1:4000:4000 --volume callwright:/data --env CALLWRIGHT_KEYS callwright

FROM rust:1.95.0-alpine@sha256:606fd313a0f49743ee2a7bd49a0914bab7deedb12791f3a846a34a4711db7ed2 AS build
# SQLite and ring are built with a C compiler.
RUN apk add --no-cache build-base ca-certificates
WORKDIR /source
COPY . .
# Alpine's target is musl, which Rust links statically.
RUN cargo build --profile dist --locked --package callwright-cli \
    && mkdir -p /root-of-image/data /root-of-image/tmp \
    && cp target/dist/callwright /root-of-image/callwright

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chown=65532:65532 /root-of-image/ /
USER 65532:65532
# Everyone who reaches the container could ask, so it does not start without CALLWRIGHT_KEYS, `[[keys]]` or allow_open.
ENV CALLWRIGHT_LISTEN=0.0.0.0:4000 \
    CALLWRIGHT_STORE_AT=/data/callwright.db \
    CALLWRIGHT_CAPABILITY_DIR=/data
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["/callwright", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/callwright"]
CMD ["serve"]
