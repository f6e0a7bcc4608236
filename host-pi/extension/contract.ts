// Generated from wit/guard.wit by `cargo run -p context-guard-tests --bin contract-types`. Do not edit.

/** Names one entry of the host's append-only session log; what it names never changes. */
export type EntryId = string;

/** RFC 8259 text. WIT has no recursive types, so open-ended values cross the border as text. */
export type Json = string;

/** Milliseconds since the Unix epoch, always supplied by the host. */
export type Timestamp = number;

/** An image without its pixels: enough to size it. Edits and `recall` point to the original. */
export interface Image {
  media_type: string;
  /** Start of the base64 text (at most 65,536 characters), where width and height stand. */
  head: string;
  /** Length of the whole base64 text. */
  base64_length: number;
}

export interface Thinking {
  text: string;
  /** Length of the provider's opaque signature. */
  signature_length: number;
}

export interface ToolCall {
  id: string;
  name: string;
  /** A JSON object. */
  arguments: Json;
}

export type Block =
  | { Text: string }
  | { Image: Image }
  | { Thinking: Thinking }
  | { ToolCall: ToolCall }
  /** Something else the model sees; only its length counts. */
  | { Opaque: number };

export type StopReason = "Stop" | "ToolUse" | "Length" | "Aborted" | "Error";

export interface Usage {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}

export interface Assistant {
  blocks: Block[];
  stop_reason: StopReason;
  /** `provider/model`. */
  model: string;
  usage: Usage | null;
}

export interface ToolResult {
  call_id: string;
  /** Absent in some old session files. */
  tool_name: string | null;
  is_error: boolean;
  blocks: Block[];
}

/** A message that an extension put into the context. */
export interface Note {
  kind: string;
  blocks: Block[];
}

/** Content that the host keeps as a plain string is one text block. */
export type Message =
  | { User: Block[] }
  | { Assistant: Assistant }
  | { ToolResult: ToolResult }
  | { Note: Note }
  /**
   * A message that edits cannot reach, such as the user's own shell command: its length as the
   * model sees it; 0 for the system prompt.
   */
  | { Fixed: number };

export type EntryBody =
  | { Message: Message }
  /** A context edit of that earlier entry. */
  | { Edit: EntryId }
  /** A record that the guard asked the host to keep. */
  | { GuardRecord: Json }
  /** The summary that stands for what came before it. */
  | { Compaction: string }
  /** The summary of a branch that the session came back from. */
  | { BranchSummary: string }
  /** An entry that the model never sees and the guard never reads. */
  | "Other";

export interface Entry {
  id: EntryId;
  /** When the host recorded it. */
  time: Timestamp;
  body: EntryBody;
}

/** How an entry stands in the model's context now. */
export type View =
  | "AsRecorded"
  | "Omitted"
  | { Replaced: Block[] };

export interface Visible {
  id: EntryId;
  view: View;
}

export type CacheScheme = "Anthropic" | "OpenaiCodex" | "Other";

export interface Prices {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}

/** What happens to earlier thinking when the context before it changes. */
export type ThinkingBinding = "Unbound" | "Dropped" | "Refused";

/** The model that the next request goes to, and what an edit of earlier context costs there. */
export interface Model {
  /** `provider/model`. */
  name: string;
  cache: CacheScheme;
  /** US dollars per million tokens, where the host's catalogue has them. */
  prices: Prices | null;
  /** How long an unused cache entry lives, in seconds; longer where the host keeps it warm. */
  cache_lifetime: number;
  thinking: ThinkingBinding;
}

/** Why a call that returned did not do its work. Treat the set as open and match `other`. */
export type Error =
  /** The delta does not fit what the session holds: send it whole. */
  | "OutOfSync"
  /** The input is wrong; the text says what, and how to mend it. */
  | { Invalid: string }
  | { Other: string };

/** What changed since the last update. `keep-*` counts the leading items that stay. */
export interface Delta {
  keep_branch: number;
  /** Entries of the active branch, root first, also those from before a compaction. */
  branch: Entry[];
  keep_context: number;
  /** The recorded entries that make up the model's context, in its order; omitted ones included. */
  context: Visible[];
}

/** A turn completed and another follows, or the run completed. */
export type Phase = "MidRun" | "RunEnd";

/**
 * One classifier request, independent of the wire protocol: `{"state": {…}, "questions":
 * {ID: {"type": "bool" | "choice", "instructions": TEXT, "criteria": {KEY: MEANING}}}}`.
 */
export interface Question {
  id: number;
  body: Json;
}

export type Failure = "Timeout" | "Error" | "Aborted" | "Denied";

export type Reply =
  /**
   * By ID: `{"type": "bool", "probability": P}` or `{"type": "choice", "choice": KEY,
   * "probabilities": {KEY: P}}`.
   */
  | { Answers: Json }
  | { Failed: Failure };

export interface Verdict {
  /** The question's. */
  id: number;
  reply: Reply;
  /** Body bytes that left, retries included; 0 when the question was never sent. */
  sent_bytes: number;
  input_tokens: number;
  cost_usd: number;
}

/** Limits of one pass, from the settings. */
export interface Budget {
  /** For all questions together. */
  timeout_ms: number;
  /** Requests in flight. */
  concurrency: number;
}

/** What one pass wants to know. Empty `questions` can still lead to edits (old images). */
export interface Inquiry {
  questions: Question[];
  budget: Budget;
}

/** One block of a replacement. */
export type Part =
  | { Text: string }
  /** The block at that index of the entry as recorded, unchanged. */
  | { Recorded: number };

/** No replacement omits the entry from the model's context. */
export interface Edit {
  target: EntryId;
  replacement: Part[] | null;
}

/** What one pass decided. The host applies all of it or none of it. */
export interface Outcome {
  edits: Edit[];
  /** A record to append to the session. */
  guard_record: Json | null;
  warnings: string[];
}

/** A part of a provider request. */
export type Section = "Tools" | "System" | "Messages";

export interface RequestBlock {
  /** `text`, `tool_use`, `tool_result`, `image`, … */
  kind: string;
  has_text: boolean;
  tool_use_id: string | null;
  /** The cache breakpoint's JSON, where the block carries one. */
  cache_control: Json | null;
}

export interface RequestMessage {
  role: string;
  blocks: RequestBlock[];
}

/** A provider request without its text. A plain string is one text block. */
export interface RequestShape {
  tools: RequestBlock[];
  system: RequestBlock[];
  messages: RequestMessage[];
  /** A repeat that only keeps the cache warm; no `response` follows. */
  replay: boolean;
}

/** Sets, or with `none` removes, the cache breakpoint of one block. */
export interface Breakpoint {
  section: Section;
  /** Index in `messages`; 0 in the other sections. */
  message: number;
  block: number;
  cache_control: Json | null;
}

/** Numbers count from 1; 0 is as good as none. */
export interface RecallRequest {
  entry_id: EntryId;
  /** A JavaScript regular expression. */
  pattern: string | null;
  /** First line; with `pattern`, first matching line. */
  offset: number | null;
  /** Most lines. */
  limit: number | null;
  /** First character of the first line. */
  column: number | null;
  /** First image. */
  image: number | null;
}

export type Recalled =
  | { Text: string }
  /** The host attaches the block at that index of that entry. */
  | { Image: [EntryId, number] };

/**
 * The settings in force, as far as a host must act on them. Never the network permission: a
 * host reads that from the user's settings itself and takes no guest's word for it.
 */
export interface Configuration {
  enabled: boolean;
  /** `provider/id` of the classifier. */
  classifier: string;
  /** Anthropic breakpoints are wanted: call `request` and `response`. */
  breakpoints: boolean;
  warnings: string[];
}

/** What the host can do at this moment. */
export interface Circumstances {
  /** Why judging is off, as the status bar says it (`no openrouter key`); `none` when it can go on. */
  problem: string | null;
  /** Origin that questions go to; `none` where nothing is sent. */
  destination: string | null;
  /** The model can call `recall` in its next request. */
  recall_active: boolean;
  /** Absolute working directory of the session. */
  working_directory: string;
}

/** The colour of a piece of text, as the host's theme has it. */
export type Tone = "Dim" | "Accent" | "Warning" | "Success";

/** A piece of the status bar. */
export interface Span {
  text: string;
  tone: Tone;
}

/** Where and how to ask. Never a credential: the host adds it on the way out. */
export interface Service {
  /** The wire protocol, such as `typesafe-system-one`; `builtin` answers without a network. */
  api: string;
  base_url: string;
  model: string;
  headers: [string, string][];
  /** US dollars per million input tokens. */
  input_price: number;
}
