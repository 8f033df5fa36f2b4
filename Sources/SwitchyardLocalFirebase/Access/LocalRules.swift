import Switchyard
import Synchronization

/// Who may do what with documents and files, as <doc:LocalFirebaseRules> tells it.
package final class LocalRules: Sendable {
    package enum Action: Sendable { case read, write }

    private let open: Mutex<Bool>

    /// Whether the rules of the domain clients come first.
    private let hasDomain: Bool

    package init(isOpen: Bool, hasDomain: Bool = false) {
        open = Mutex(isOpen)
        self.hasDomain = hasDomain
    }

    /// Whether everybody may do everything; may be switched at any time.
    package var isOpen: Bool {
        get { open.withLock { $0 } }
        set { open.withLock { $0 = newValue } }
    }

    /// Whether rules stand in this caller's way at all.
    package func bind(_ caller: LocalCaller) -> Bool { !isOpen && caller != .owner }

    /// Whether `caller` may do this to a document, which is `data` now and will be `newData`.
    ///
    /// - Parameter documents: What else is there.
    func allow(
        _ action: Action, of caller: LocalCaller, at path: StoragePath, data: DocumentData?,
        newData: DocumentData? = nil, in documents: LocalDocuments
    ) -> Bool {
        guard bind(caller) else { return true }
        guard let id = caller.userID else { return false }
        if hasDomain {
            let rules = DomainRules(documents: documents, me: id)
            let answer = action == .read ? rules.allowRead(path, data) : rules.allowWrite(path, data, newData)
            if let answer { return answer }
        }
        let segments = path.segments
        if segments[0] == "users" {
            // The profile itself is for all who are signed in to see; what is below it is not.
            return segments[1] == id || (action == .read && segments.count == 2)
        }
        guard action == .write else { return true }
        return [data, newData].allSatisfy { data in
            if case .string(let owner)? = data?["owner"] { owner == id } else { true }
        }
    }

    /// Whether what a commit of `caller` has left at `path` may stay.
    func allowOutcome(of caller: LocalCaller, at path: StoragePath, in documents: LocalDocuments) -> Bool {
        guard hasDomain, bind(caller), let id = caller.userID else { return true }
        return DomainRules(documents: documents, me: id).allowOutcome(at: path)
    }

    /// Whether `caller` may run a query; it is then trusted with every result.
    func allow(_ query: Query, of caller: LocalCaller, in documents: LocalDocuments) -> Bool {
        guard bind(caller) else { return true }
        guard let id = caller.userID else { return false }
        if hasDomain, let answer = DomainRules(documents: documents, me: id).allowQuery(query) { return answer }
        switch query.source {
        case .collection(let collection):
            guard let parent = collection.parent else { return true }
            return parent.segments[0] != "users" || parent.segments[1] == id
        case .group(_, let ancestor):
            // A group over everything would look into everybody's tree.
            guard let ancestor else { return false }
            return ancestor.segments[0] != "users" || ancestor.segments[1] == id
        }
    }

    /// Whether `caller` may do this to a file, given by the segments of its name.
    package func allow(_ action: Action, of caller: LocalCaller, file segments: [String]) -> Bool {
        guard bind(caller) else { return true }
        if segments.first == "public", action == .read { return true }
        guard let id = caller.userID else { return false }
        guard segments.first == "users" else { return true }
        // As with documents: what lies directly at a person is for all who are signed in to see.
        return segments.dropFirst().first == id || (action == .read && segments.count == 3)
    }
}
