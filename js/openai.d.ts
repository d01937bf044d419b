import type OpenAI from "openai";
import type { ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import type { ResponseModel, WrapOptions } from "./response-model.js";
import type { DeepPartial, Json, PartialValue } from "./types.js";

export type { ResponseModel, WrapOptions };

type Request = Omit<ChatCompletionCreateParamsNonStreaming, "stream" | "tools">;

/** What `chat.completions.create` takes besides. */
interface Structured {
  /** The value that the answer says, of the schema's type. */
  create<Output>(
    body: Request & { responseModel: ResponseModel<Output>; stream?: false },
    options?: OpenAI.RequestOptions,
  ): Promise<Output>;
  /** What is certain of the value behind each piece, and all of it last: there `complete` is `[""]`. */
  create<Output>(
    body: Request & { responseModel: ResponseModel<Output>; stream: true },
    options?: OpenAI.RequestOptions,
  ): Promise<AsyncIterable<PartialValue<DeepPartial<Output>>>>;
  create(
    body: Request & { responseModel: { [key: string]: unknown }; stream?: false },
    options?: OpenAI.RequestOptions,
  ): Promise<Json>;
}

/**
 * A client like `client`, of its class and over the same connections. `chat.completions.create`, `.stream`, `.parse` and `.runTools` give calls
 * that are repaired, those in the text too; about a call that cannot be, or may be made as well as shown, the model is asked
 * again. The requests throw `RefusedError` where it does not get right. All else of the client is as it was.
 *
 * Throws `TypeError` for anything else.
 */
export declare function wrapOpenAI<Client extends OpenAI>(
  client: Client,
  options?: WrapOptions,
): Client & { chat: { completions: Structured } };
