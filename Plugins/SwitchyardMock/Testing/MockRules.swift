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

extension MockRules {
    /// The rules for the clients of users, contacts, check-ins and notifications, the same as for Firebase and Supabase.
    ///
    /// Users own `users/ID` with everything below it, and the check-ins with their ID. Others can leave a request to be on a
    /// user's list, which the user accepts. Contacts can update their own name and addresses on a list, and leave it.
    /// Responders see the check-ins and the profile. Contacts of a user can create notifications for them, and cannot read these
    /// afterwards. Users whom the user has blocked can do none of this. Everything else is denied; allow it with ``or(_:)``.
    public static let domain = MockRules { request in
        guard let userID = request.userID else { return false }
        let segments = request.path.segments
        switch segments[0] {
        case "users" where segments[1].utf8Equals(userID): return true
        case "users" where segments.count == 2:
            return request.access == .get && request.isResponder(userID, of: segments[1])
        case "users" where segments.count == 4 && segments[2] == "contacts" && segments[3].utf8Equals(userID):
            return request.mayChangeOwnEntry(on: segments[1])
        case "users" where segments.count == 4 && segments[2] == "contactRequests" && segments[3].utf8Equals(userID):
            return request.mayAsk(segments[1])
        case "users" where segments.count == 4 && segments[2] == "notifications":
            return request.access == .create && request.entry(of: userID, on: segments[1]) != nil
                && !request.isBlocked(by: segments[1]) && request.proposed.map(DomainFields.isNotification) == true
        case "checkIns" where segments.count == 2: return request.allowsCheckIn(for: userID)
        default: return false
        }
    }
}

extension MockRules.Request {
    /// The entry of a contact in the contacts of `person`.
    fileprivate func entry(of contact: AuthUser.ID, on person: AuthUser.ID) -> DocumentData? {
        Self.entry(contact, person).flatMap(document)
    }

    fileprivate func isResponder(_ contact: AuthUser.ID, of person: AuthUser.ID) -> Bool {
        entry(of: contact, on: person)?["isResponder"] == true
    }

    /// Whether contacts may change their own entry in the contacts of `person`, who must be among theirs afterwards.
    fileprivate func mayChangeOwnEntry(on person: AuthUser.ID) -> Bool {
        switch access {
        case .get, .list, .create: return false
        case .delete: return true
        case .update:
            guard let existing, let proposed else { return false }
            return isMutual(with: person) && DomainFields.isOwnChange(from: existing, to: proposed)
        }
    }

    /// Whether the caller may leave a request with `person`, who must be among their contacts afterwards.
    fileprivate func mayAsk(_ person: AuthUser.ID) -> Bool {
        switch access {
        case .get, .list: return false
        case .delete: return true
        case .create, .update: return isMutual(with: person) && proposed.map(DomainFields.isRequest) == true
        }
    }

    /// Whether `person` is among the caller's contacts afterwards, and has not blocked the caller.
    private func isMutual(with person: AuthUser.ID) -> Bool {
        guard let userID, let back = Self.entry(person, userID) else { return false }
        return documentAfter(back) != nil && !isBlocked(by: person)
    }

    fileprivate func isBlocked(by person: AuthUser.ID) -> Bool {
        guard let userID, let path = try? StoragePath(validating: "users/\(person)/blockedContacts/\(userID)") else {
            return true
        }
        return document(path) != nil
    }

    fileprivate func allowsCheckIn(for userID: AuthUser.ID) -> Bool {
        switch access {
        // A missing check-in reveals nothing.
        case .get, .list:
            guard let existing else { return true }
            guard let person = existing["userID"]?.stringValue else { return false }
            return person.utf8Equals(userID) || isResponder(userID, of: person)
        case .create, .update, .delete:
            return [existing, proposed].allSatisfy { data in
                data.map { $0["userID"]?.stringValue?.utf8Equals(userID) == true } ?? true
            }
        }
    }

    private static func entry(_ contact: AuthUser.ID, _ person: AuthUser.ID) -> StoragePath? {
        try? StoragePath(validating: "users/\(person)/contacts/\(contact)")
    }
}
