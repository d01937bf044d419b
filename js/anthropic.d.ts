import type Anthropic from "@anthropic-ai/sdk";
import type { MessageCreateParamsNonStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { ResponseModel, WrapOptions } from "./response-model.js";
import type { DeepPartial, Json, PartialValue } from "./types.js";

export type { ResponseModel, WrapOptions };

type Request = Omit<MessageCreateParamsNonStreaming, "stream" | "tools">;

/** What `messages.create` takes besides. */
interface Structured {
  /** The value that the answer says, of the schema's type. */
  create<Output>(
    body: Request & { responseModel: ResponseModel<Output>; stream?: false },
    options?: Anthropic.RequestOptions,
  ): Promise<Output>;
  /** What is certain of the value behind each piece, and all of it last: there `complete` is `[""]`. */
  create<Output>(
    body: Request & { responseModel: ResponseModel<Output>; stream: true },
    options?: Anthropic.RequestOptions,
  ): Promise<AsyncIterable<PartialValue<DeepPartial<Output>>>>;
  create(
    body: Request & { responseModel: { [key: string]: unknown }; stream?: false },
    options?: Anthropic.RequestOptions,
  ): Promise<Json>;
}

/**
 * A client like `client`, of its class and over the same connections. `messages.create` and `.stream` give calls that are
 * repaired, those in the text too; about a call that cannot be, or may be made as well as shown, the model is asked again. The
 * requests throw `RefusedError` where it does not get right. All else of the client is as it was.
 *
 * Throws `TypeError` for anything else.
 */
export declare function wrapAnthropic<Client extends Anthropic>(
  client: Client,
  options?: WrapOptions,
): Client & { messages: Structured };
