"""Serves weights on loopback, by llama.cpp's own HTTP server as the package `xllamacpp` ships it.

    python3 serve.py WEIGHTS.gguf --alias NAME [--template FILE | --no-jinja]

Prints one line with the server's address as soon as the model answers.
"""

import argparse
import os
import signal
import time
import urllib.error
import urllib.request

# Before the engine loads its OpenMP: threads that spin at a barrier starve each other, and whatever else runs on
# the same cores, to a hundredth of the speed.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
os.environ["GOMP_SPINCOUNT"] = "0"

import xllamacpp  # noqa: E402

THREADS = 2
SLOTS = 2
TOKENS_OF_A_SLOT = 4096


def parameters():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights")
    parser.add_argument("--alias", required=True, help="the model's name in requests and answers")
    parser.add_argument("--template", help="a chat template that takes the place of the model's own")
    parser.add_argument("--no-jinja", action="store_true", help="no template engine: requests with tools are refused")
    asked = parser.parse_args()

    params = xllamacpp.CommonParams()
    params.model.path = asked.weights
    params.model_alias = {asked.alias}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = TOKENS_OF_A_SLOT * SLOTS
    params.n_parallel = SLOTS
    params.cpuparams.n_threads = THREADS
    params.cpuparams_batch.n_threads = THREADS
    params.use_jinja = not asked.no_jinja
    params.ui = False
    params.warmup = False
    if asked.template:
        with open(asked.template, encoding="utf-8") as template:
            params.chat_template = template.read()
    return params


def wait_until_healthy(address):
    """While it loads, the server answers 503."""
    while True:
        try:
            urllib.request.urlopen(f"{address}/health", timeout=10)
            return
        except urllib.error.HTTPError:
            time.sleep(0.05)


server = xllamacpp.Server(parameters())
wait_until_healthy(server.listening_address)
print(server.listening_address, flush=True)
signal.pause()
