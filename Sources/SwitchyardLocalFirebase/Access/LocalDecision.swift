package import Switchyard
import SwitchyardServerKit

/// A decision about access, with everything that it was made from, for whoever wants to know why.
package struct LocalDecision: Sendable {
    package enum Subject: Sendable {
        case document(LocalRules.Action, StoragePath, data: DocumentData?, newData: DocumentData?)
        /// What a commit leaves at a path.
        case outcome(StoragePath)
        case query(Query)
        /// A file, by the segments of its name.
        case file(LocalRules.Action, [String])
    }

    package let subject: Subject
    package let caller: LocalCaller
    package let isAllowed: Bool
    /// Whether everyone may do everything.
    package let isOpen: Bool
    /// Whether the rules of the domain clients come first.
    package let hasDomain: Bool
    /// The other documents that rules may look at, as they were.
    package let others: [StoragePath: DocumentSnapshot]

    package init(
        _ subject: Subject, of caller: LocalCaller, isAllowed: Bool, isOpen: Bool, hasDomain: Bool,
        others: [StoragePath: DocumentSnapshot] = [:]
    ) {
        self.subject = subject
        self.caller = caller
        self.isAllowed = isAllowed
        self.isOpen = isOpen
        self.hasDomain = hasDomain
        self.others = others
    }
}

extension LocalRules {
    /// Notes a decision for the request that the current task answers, if anyone looks.
    func noted(
        _ subject: LocalDecision.Subject, of caller: LocalCaller, in documents: LocalDocuments?, _ isAllowed: Bool
    ) -> Bool {
        guard let record = ExchangeRecord.current else { return isAllowed }
        var others: [StoragePath: DocumentSnapshot] = [:]
        if hasDomain, let documents, let me = caller.userID {
            for path in Self.others(of: subject, me) { others[path] = documents.snapshot(path) }
        }
        record.note(
            LocalDecision(
                subject, of: caller, isAllowed: isAllowed, isOpen: isOpen, hasDomain: hasDomain, others: others))
        return isAllowed
    }

    /// What the rules of the domain clients look at besides the document itself.
    private static func others(of subject: LocalDecision.Subject, _ me: String) -> [StoragePath] {
        let person: String?
        switch subject {
        case .document(_, let path, let data, let newData):
            person = Self.person(of: path.segments, [data, newData])
        case .outcome(let path): person = Self.person(of: path.segments, [])
        case .query(let query): person = DomainRules.person(asked: query.filter)
        case .file: person = nil
        }
        guard let person, !person.isEmpty, !me.isEmpty else { return [] }
        return [
            StoragePath("users", person, "contacts", me), StoragePath("users", person, "blockedContacts", me),
            StoragePath("users", me, "contacts", person),
        ]
    }

    private static func person(of segments: [String], _ states: [DocumentData?]) -> String? {
        if segments.first == "users" { return segments.dropFirst().first }
        return states.compactMap { DomainRules.person($0) }.first
    }
}
