import Switchyard
import SwitchyardWire

extension HTTPRequest {
    /// Names the trace of the server request that the current task works for, if there is one.
    mutating func carryTrace() {
        guard !isShared, let trace = ServedRequest.current?.trace else { return }
        headers["traceparent"] = trace.traceparent
        headers["tracestate"] = trace.tracestate
    }
}
