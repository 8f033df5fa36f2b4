import Switchyard
import SwitchyardFirestoreFormat
import Synchronization

/// The access rules for documents and files, as described in <doc:RunningALocalFirebase>.
package final class LocalRules: Sendable {
    package enum Action: Sendable { case read, write }

    private let open: Mutex<Bool>

    /// Whether the rules of the domain clients come first.
    let hasDomain: Bool

    package init(isOpen: Bool, hasDomain: Bool = false) {
        open = Mutex(isOpen)
        self.hasDomain = hasDomain
    }

    /// Whether everyone may do everything; can be changed at any time.
    package var isOpen: Bool {
        get { open.withLock { $0 } }
        set { open.withLock { $0 = newValue } }
    }

    /// Why rules in the vendor's language cannot be loaded; `nil` if they are those that apply here.
    func refusal(of given: FirestoreRulesText) -> String? {
        let remedy =
            "Start it with --domain for the rules that “switchyard firebase rules” prints, with --open to allow everything, or use "
            + "the vendor's Firestore emulator."
        guard hasDomain, !isOpen else {
            return "The local Firebase has one fixed set of rules and loads no others. " + remedy
        }
        guard let line = given.firstDifference(from: FirestoreRulesText(FirestoreRulesText.domain)) else { return nil }
        return
            "The local Firebase serves the rules that “switchyard firebase rules” prints and no others; line \(line.number) differs: "
            + "“\(line.text)”. " + remedy
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
        noted(
            .document(action, path, data: data, newData: newData), of: caller, in: documents,
            decides(action, of: caller, at: path, data: data, newData: newData, in: documents))
    }

    private func decides(
        _ action: Action, of caller: LocalCaller, at path: StoragePath, data: DocumentData?,
        newData: DocumentData?, in documents: LocalDocuments
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
        let isAllowed = DomainRules(documents: documents, me: id).allowOutcome(at: path)
        return noted(.outcome(path), of: caller, in: documents, isAllowed)
    }

    /// Whether `caller` may run a query; it is then trusted with every result.
    func allow(_ query: Query, of caller: LocalCaller, in documents: LocalDocuments) -> Bool {
        noted(.query(query), of: caller, in: documents, decides(query, of: caller, in: documents))
    }

    private func decides(_ query: Query, of caller: LocalCaller, in documents: LocalDocuments) -> Bool {
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
        noted(.file(action, segments), of: caller, in: nil, decides(action, of: caller, file: segments))
    }

    private func decides(_ action: Action, of caller: LocalCaller, file segments: [String]) -> Bool {
        guard bind(caller) else { return true }
        if segments.first == "public", action == .read { return true }
        guard let id = caller.userID else { return false }
        guard segments.first == "users" else { return true }
        // As with documents, all signed-in users may read files directly in a user's folder.
        return segments.dropFirst().first?.utf8Equals(id) == true || (action == .read && segments.count == 3)
    }
}

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

    static func person(_ data: DocumentData?) -> String? {
        if case .string(let id)? = data?["userID"] { id } else { nil }
    }

    /// The person whose check-ins a query asks for, if it names one.
    static func person(asked filter: Filter?) -> String? {
        switch filter {
        case .comparison("userID", .equal, .string(let id))?: id
        case .all(let filters)?: filters.lazy.compactMap { person(asked: $0) }.first
        default: nil
        }
    }
}
