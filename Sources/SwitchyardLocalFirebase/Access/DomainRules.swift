import Switchyard

/// The rules for the users, contacts, check-ins and notifications clients, equivalent to the text in the vendor's rules
/// language that is published for a project.
struct DomainRules {
    let documents: LocalDocuments
    /// The caller's ID.
    let me: String

    /// - Returns: `nil` if these rules do not apply.
    func allowRead(_ path: StoragePath, _ data: DocumentData?) -> Bool? {
        let segments = path.segments
        switch segments[0] {
        case "users":
            return segments[1].utf8Equals(me) || (segments.count == 2 && isContact(of: segments[1], asResponder: true))
        case "checkIns" where segments.count == 2:
            guard let person = Self.person(data) else { return false }
            return person.utf8Equals(me) || isContact(of: person, asResponder: true)
        default: return nil
        }
    }

    /// - Parameters:
    ///   - data: The current data.
    ///   - newData: The data after the write; `nil` for a deletion.
    func allowWrite(_ path: StoragePath, _ data: DocumentData?, _ newData: DocumentData?) -> Bool? {
        let segments = path.segments
        switch segments[0] {
        case "users":
            if segments[1].utf8Equals(me) { return true }
            guard segments.count == 4 else { return false }
            switch segments[2] {
            case "contacts":
                guard segments[3].utf8Equals(me) else { return false }
                guard let newData else { return true }
                guard let data, !isBlocked(by: segments[1]) else { return false }
                return DomainFields.isOwnChange(from: data, to: newData)
            case "contactRequests":
                guard segments[3].utf8Equals(me) else { return false }
                guard let newData else { return true }
                return !isBlocked(by: segments[1]) && DomainFields.isRequest(newData)
            case "notifications":
                guard data == nil, let newData else { return false }
                return isContact(of: segments[1]) && !isBlocked(by: segments[1]) && DomainFields.isNotification(newData)
            default: return false
            }
        case "checkIns" where segments.count == 2:
            return [data, newData].compactMap { $0 }.allSatisfy { Self.person($0)?.utf8Equals(me) == true }
        default: return nil
        }
    }

    /// Whether the result of a commit at `path` is allowed: users who ask to be on a list, or change their entry on it, must
    /// have its owner on their own.
    func allowOutcome(at path: StoragePath) -> Bool {
        let segments = path.segments
        guard segments.count == 4, segments[0] == "users", ["contacts", "contactRequests"].contains(segments[2]),
            !segments[1].utf8Equals(me),
            documents[path] != nil
        else { return true }
        return documents[StoragePath("users", me, "contacts", segments[1])] != nil
    }

    /// A query is allowed if no result of it could be refused.
    func allowQuery(_ query: Query) -> Bool? {
        switch query.source {
        case .collection(let collection):
            if let parent = collection.parent {
                return parent.segments[0] == "users" ? parent.segments[1].utf8Equals(me) : nil
            }
            switch collection.id {
            case "users": return false
            case "checkIns":
                guard let person = Self.person(asked: query.filter) else { return false }
                return person.utf8Equals(me) || isContact(of: person, asResponder: true)
            default: return nil
            }
        case .group(_, let ancestor):
            guard let ancestor else { return false }
            return ancestor.segments[0] == "users" ? ancestor.segments[1].utf8Equals(me) : nil
        }
    }

    private func isBlocked(by person: String) -> Bool {
        documents[StoragePath("users", person, "blockedContacts", me)] != nil
    }

    private func isContact(of person: String, asResponder: Bool = false) -> Bool {
        guard let entry = documents[StoragePath("users", person, "contacts", me)]?.data else { return false }
        return !asResponder || entry["isResponder"] == true
    }

    private static func person(_ data: DocumentData?) -> String? {
        if case .string(let id)? = data?["userID"] { id } else { nil }
    }

    /// The person whose check-ins a query asks for, if it names one.
    private static func person(asked filter: Filter?) -> String? {
        switch filter {
        case .comparison("userID", .equal, .string(let id))?: id
        case .all(let filters)?: filters.lazy.compactMap { person(asked: $0) }.first
        default: nil
        }
    }
}
