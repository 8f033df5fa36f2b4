package import Switchyard
import Synchronization

/// Who may do what with documents and files, as <doc:LocalFirebaseRules> tells it.
package final class LocalRules: Sendable {
    package enum Action: Sendable { case read, write }

    private let open: Mutex<Bool>

    package init(isOpen: Bool) { open = Mutex(isOpen) }

    /// Whether everybody may do everything; may be switched at any time.
    package var isOpen: Bool {
        get { open.withLock { $0 } }
        set { open.withLock { $0 = newValue } }
    }

    /// Whether rules stand in this caller's way at all.
    package func bind(_ caller: LocalCaller) -> Bool { !isOpen && caller != .owner }

    /// Whether `caller` may do this to a document, which is `data` now and will be `newData`.
    package func allow(
        _ action: Action, of caller: LocalCaller, at path: StoragePath, data: DocumentData?,
        newData: DocumentData? = nil
    ) -> Bool {
        guard bind(caller) else { return true }
        guard let id = caller.userID else { return false }
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

    /// Whether `caller` may run a query there; it is then trusted with every result.
    package func allowQuery(of caller: LocalCaller, in source: Query.Source) -> Bool {
        guard bind(caller) else { return true }
        guard let id = caller.userID else { return false }
        switch source {
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
