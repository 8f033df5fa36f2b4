import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A request in the words of whoever looks at it.
struct RequestSummary: Sendable {
    enum Service: String, Sendable { case storage, auth, files, messaging, realtime, functions }

    let who: Who
    let service: Service
    /// Such as “set users/alice”.
    let what: String
    /// Whether access was allowed; `nil` if it was not in question.
    let isAllowed: Bool?

    func json(_ entry: RequestLog.Entry, _ state: ExchangeRecord.State) -> JSON {
        let record = entry.record
        let duration = record.began.duration(to: state.ended ?? .now)
        return .object([
            "n": .number(record.number), "at": .string(PageTime.text(entry.at)),
            "milliseconds": state.ended == nil ? nil : .number((duration / .microseconds(10)).rounded() / 100),
            "phase": .string(state.phase.text), "who": who.json, "method": .string(record.head.method.rawValue),
            "path": .string(Masked.target(record.head.target)), "service": .string(service.rawValue),
            "what": .string(what), "status": state.status.map { .number($0) },
            "size": .number(state.responseBody.count), "fault": .text(state.fault),
            "decision": isAllowed.map { ["allowed": .bool($0)] },
        ])
    }
}

extension ExchangeRecord.Phase {
    var text: String {
        switch self {
        case .waiting: "waiting"
        case .answering: "answering"
        case .done: "done"
        case .abandoned: "abandoned"
        }
    }
}

enum PageTime {
    /// In UTC, with milliseconds.
    static func text(_ date: Date) -> String {
        text(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }

    static func text(milliseconds: Int64) -> String { "\(Timestamp(microseconds: milliseconds * 1000))" }
}
