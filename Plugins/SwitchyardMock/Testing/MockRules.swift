public import Switchyard

/// Who may read and write which documents of a mock project, as security rules and policies say it on a server.
///
/// ```swift
/// let backend = MockBackend(rules: .ownersOnly)
/// let strict = MockBackend(rules: MockRules { $0.userID != nil && ($0.access == .get || $0.access == .create) })
/// ```
/// They apply to the clients of a ``MockModule``, each by its signed-in user. A ``MockStorageClient`` that a test makes
/// itself acts for the project and may do everything, as ``MockBackend/seed(_:)`` does.
///
/// Rules are no filters: a query is refused as a whole if it would show a document that may not be listed. Files and messages
/// have no rules.
public struct MockRules: Sendable {
    /// What somebody wants to do.
    public enum Access: String, Sendable, Hashable, CaseIterable {
        /// To read one document, or to follow it.
        case get
        /// To see a document among the results of a query.
        case list
        case create, update, delete

        public var isWrite: Bool { self != .get && self != .list }

        var doing: String {
            switch self {
            case .get: "reading"
            case .list: "listing"
            case .create: "creating"
            case .update: "updating"
            case .delete: "deleting"
            }
        }
    }

    /// What is asked of rules.
    public struct Request: Sendable {
        /// Who asks; `nil` while nobody is signed in.
        public let userID: AuthUser.ID?
        public let access: Access
        /// The document. For a query without results, one of that collection that does not exist.
        public let path: StoragePath
        /// The document as it is; `nil` if there is none.
        public let existing: DocumentData?
        /// The document as the write would leave it; `nil` for reads and deletions.
        public let proposed: DocumentData?
        let documents: DocumentTable
        /// What the whole batch leaves; empty for reads.
        let after: [StoragePath: DocumentData?]

        /// Another document of the project, such as a list of members; `nil` if there is none.
        public func document(_ path: StoragePath) -> DocumentData? { documents[path]?.data }

        /// Another document as the batch or transaction would leave it, for what may only be written together.
        public func documentAfter(_ path: StoragePath) -> DocumentData? { after[path] ?? document(path) }
    }

    let allows: @Sendable (Request) -> Bool

    /// - Parameter allows: Called while nothing else can happen to the project: it decides by the request alone.
    public init(_ allows: @escaping @Sendable (Request) -> Bool) { self.allows = allows }

    /// What either of two sets of rules allows.
    public func or(_ other: MockRules) -> MockRules {
        MockRules { [allows] in allows($0) || other.allows($0) }
    }

    /// Signed-in users may do everything; others may do nothing.
    public static let signedIn = MockRules { $0.userID != nil }

    /// Documents are for their owners. What lies at or below `users/ID` belongs to the user with that ID; any other document
    /// belongs to the user whom its field `owner` names. Whoever is not signed in may do nothing.
    public static let ownersOnly = MockRules { request in
        guard let userID = request.userID else { return false }
        let segments = request.path.segments
        if segments[0] == "users" { return segments[1] == userID }
        return [request.existing, request.proposed].allSatisfy { data in
            data.map { $0["owner"]?.stringValue == userID } ?? true
        }
    }
}
