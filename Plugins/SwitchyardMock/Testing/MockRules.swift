public import Switchyard

/// Access rules for the documents of a mock project, like security rules and policies on a server.
///
/// ```swift
/// let backend = MockBackend(rules: .ownersOnly)
/// let strict = MockBackend(rules: MockRules { $0.userID != nil && ($0.access == .get || $0.access == .create) })
/// ```
/// They apply to the clients of a ``MockModule``, each by its signed-in user. A ``MockStorageClient`` that a test creates
/// itself acts for the project and may do everything, like ``MockBackend/seed(_:)``.
///
/// Rules are not filters: a query is refused as a whole if its result contains a document that may not be listed. Files and
/// messages have no rules.
public struct MockRules: Sendable {
    /// The kind of access requested.
    public enum Access: String, Sendable, Hashable, CaseIterable {
        /// Reading one document, or listening to it.
        case get
        /// Returning a document in the results of a query.
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

    /// A request to be allowed or refused.
    public struct Request: Sendable {
        /// The signed-in user, if any.
        public let userID: AuthUser.ID?
        public let access: Access
        /// The path of the document. For a query without results, a path in that collection that does not exist.
        public let path: StoragePath
        /// The current document; `nil` if it does not exist.
        public let existing: DocumentData?
        /// The document after the write; `nil` for reads and deletions.
        public let proposed: DocumentData?
        let documents: DocumentTable
        /// The documents after the whole batch; empty for reads.
        let after: [StoragePath: DocumentData?]

        /// Another document of the project, such as a list of members; `nil` if it does not exist.
        public func document(_ path: StoragePath) -> DocumentData? { documents[path]?.data }

        /// Another document after the batch or transaction, for documents that may only be written together.
        public func documentAfter(_ path: StoragePath) -> DocumentData? { after[path] ?? document(path) }
    }

    let allows: @Sendable (Request) -> Bool

    /// - Parameter allows: Called while the project is locked, so it must decide by the request alone.
    public init(_ allows: @escaping @Sendable (Request) -> Bool) { self.allows = allows }

    /// Allows everything that either of two sets of rules allows.
    public func or(_ other: MockRules) -> MockRules {
        MockRules { [allows] in allows($0) || other.allows($0) }
    }

    /// Signed-in users may do everything, others nothing.
    public static let signedIn = MockRules { $0.userID != nil }

    /// Only owners have access to documents. Documents at or below `users/ID` belong to the user with that ID; all others
    /// belong to the user in their field `owner`. Unauthenticated requests may do nothing.
    public static let ownersOnly = MockRules { request in
        guard let userID = request.userID else { return false }
        let segments = request.path.segments
        if segments[0] == "users" { return segments[1].utf8Equals(userID) }
        return [request.existing, request.proposed].allSatisfy { data in
            data.map { $0["owner"]?.stringValue?.utf8Equals(userID) == true } ?? true
        }
    }
}
