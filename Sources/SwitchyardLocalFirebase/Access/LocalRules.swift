import Switchyard
import Synchronization

/// The access rules for documents and files, as described in <doc:LocalFirebaseRules>.
package final class LocalRules: Sendable {
    package enum Action: Sendable { case read, write }

    private let open: Mutex<Bool>

    /// Whether the rules of the domain clients come first.
    private let hasDomain: Bool

    package init(isOpen: Bool, hasDomain: Bool = false) {
        open = Mutex(isOpen)
        self.hasDomain = hasDomain
    }

    /// Whether everyone may do everything; can be changed at any time.
    package var isOpen: Bool {
        get { open.withLock { $0 } }
        set { open.withLock { $0 = newValue } }
    }

    /// Whether rules apply to this caller.
    package func bind(_ caller: LocalCaller) -> Bool { !isOpen && caller != .owner }

    /// Whether `caller` may perform this action on a document, which changes from `data` to `newData`.
    ///
    /// - Parameter documents: All documents.
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
            // All signed-in users may read the profile itself, but not what is below it.
            return segments[1].utf8Equals(id) || (action == .read && segments.count == 2)
        }
        guard action == .write else { return true }
        return [data, newData].allSatisfy { data in
            if case .string(let owner)? = data?["owner"] { owner.utf8Equals(id) } else { true }
        }
    }

    /// Whether the result of a commit by `caller` at `path` is allowed.
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
            return parent.segments[0] != "users" || parent.segments[1].utf8Equals(id)
        case .group(_, let ancestor):
            // A group over everything would include every user's tree.
            guard let ancestor else { return false }
            return ancestor.segments[0] != "users" || ancestor.segments[1].utf8Equals(id)
        }
    }

    /// Whether `caller` may perform this action on a file, given by the segments of its name.
    package func allow(_ action: Action, of caller: LocalCaller, file segments: [String]) -> Bool {
        guard bind(caller) else { return true }
        if segments.first == "public", action == .read { return true }
        guard let id = caller.userID else { return false }
        guard segments.first == "users" else { return true }
        // As with documents, all signed-in users may read files directly in a user's folder.
        return segments.dropFirst().first?.utf8Equals(id) == true || (action == .read && segments.count == 3)
    }
}
