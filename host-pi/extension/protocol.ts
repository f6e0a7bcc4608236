// The runner's methods, as docs/PROTOCOL.md has them.
import type { Credential } from "./classifier.ts";
import type {
  Breakpoint, Circumstances, Configuration, Delta, Inquiry, Model, Outcome, Phase, Recalled, RecallRequest, RequestShape,
  Service, Span, Usage,
} from "./contract.ts";

export interface Methods {
  hello: { params: Record<string, never>; result: { apis: string[] } };
  configure: { params: { project: string | null }; result: { configuration: Configuration; settings_file: string } };
  observe: { params: Circumstances; result: null };
  update: { params: Delta; result: null };
  pass: {
    params: {
      delta: Delta;
      phase: Phase;
      model: Model;
      now: number;
      service: Service | null;
      credential: Credential | null;
    };
    result: { outcome: Outcome | null; elapsed_ms: number; refusal: string | null };
  };
  begin: { params: { phase: Phase; model: Model; now: number }; result: Inquiry | null };
  request: { params: { model: Model; shape: RequestShape; now: number }; result: Breakpoint[] };
  response: { params: { model: string; usage: Usage }; result: null };
  cancel: { params: Record<string, never>; result: null };
  recall: { params: RecallRequest; result: Recalled[] };
  status: { params: Record<string, never>; result: Span[] };
  report: { params: { topic: Topic }; result: string };
  permission: { params: { base_url: string }; result: { origin: string; state: "Granted" | "Denied" | "Unknown" } };
  grant: { params: { origin: string; allow: boolean }; result: null };
  enable: { params: { enabled: boolean }; result: null };
}

export type Topic = "status" | "preview" | "explain" | "ledger";

/** What the `judging` notification says. */
export interface Judging {
  questions: number;
  /** What the questions may take together, in milliseconds. */
  timeout_ms?: number;
}
