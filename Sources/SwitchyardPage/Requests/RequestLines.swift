import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One line for each request to a local server that is over, for a terminal:
/// `09:41:07.213 firebase 200 alice set notes/a (0.8 ms)`.
package struct RequestLines: Sendable {
    private let write: @Sendable (String) -> Void

    package init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    func note(_ entry: RequestLog.Entry, _ summary: RequestSummary, _ state: ExchangeRecord.State, of backend: String) {
        guard let ended = state.ended else { return }
        let duration = entry.record.began.duration(to: ended) / .microseconds(100)
        // Without the date and the trailing Z.
        let time = PageTime.text(entry.at).dropFirst("2026-01-01T".count).dropLast()
        let end = state.status.map(String.init) ?? "no answer"
        let denied = summary.isAllowed == false ? " denied" : ""
        let fault = state.fault.map { " (fault: \($0))" } ?? ""
        let line =
            "\(time) \(backend) \(end)\(denied) \(summary.who.shown) \(summary.what) (\(duration.rounded() / 10) ms)\(fault)"
        write(LineObserver.line(line))
    }

    /// Requests that came faster than they can be told of.
    func note(missed count: Int, of backend: String) { write("… \(backend): \(count) more requests") }
}

extension Who {
    fileprivate var shown: String {
        switch kind {
        case .project: "project"
        case .signedOut: "signed out"
        case .user, .anonymous: id ?? "a user"
        }
    }
}
