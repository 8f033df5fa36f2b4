import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardText

/// The accounts of a backend.
struct AccountRoutes: Sendable {
    let backend: PageBackend
    let hub: EventHub

    private static let pageSize = 100

    private func tell(_ id: String) async {
        try? await backend.source.clients().forget(id)
        hub.send("accounts", ["backend": .string(backend.id), "account": .string(id)])
    }

    // MARK: Reading

    func list(_ call: PageCall) async throws -> JSON {
        let admin = try await backend.admin()
        if let sought = call.query("search"), !sought.isEmpty { return try await found(sought, admin) }
        let cursor = call.query("after").flatMap { $0.isEmpty ? nil : AccountCursor(rawValue: $0) }
        let page = try await admin.accountPage(after: cursor, limit: Self.pageSize)
        return .object([
            "accounts": .array(page.accounts.map(Self.json)), "after": page.next.map { .string($0.rawValue) } ?? .null,
        ])
    }

    /// By ID, address or number.
    private func found(_ text: String, _ admin: any AdminClient) async throws -> JSON {
        var accounts: [ManagedAccount] = []
        for key in [AccountKey.id(text), .email(text), .phoneNumber(text)] {
            guard let one = try? await admin.accounts([key]).first ?? nil,
                !accounts.contains(where: { $0.id == one.id })
            else { continue }
            accounts.append(one)
        }
        return .object(["accounts": .array(accounts.map(Self.json)), "after": .null])
    }

    static func json(_ account: ManagedAccount) -> JSON {
        let user = account.user
        return .object([
            "id": .string(user.id), "email": .text(user.email), "isEmailVerified": .bool(user.isEmailVerified),
            "phone": .text(user.phoneNumber), "name": .text(user.displayName),
            "photo": .text(user.photoURL?.absoluteString), "isDisabled": .bool(account.isDisabled),
            "isAnonymous": .bool(user.isAnonymous),
            "claims": .object(
                JSONObject(account.claims.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value.plainJSON) })),
            "factors": .array(
                user.secondFactors.map { factor in
                    .object([
                        "id": .string(factor.id), "kind": .string(factor.kind.rawValue),
                        "name": .text(factor.displayName),
                    ])
                }),
            "providers": .array(user.identities.map { .string($0.rawValue) }),
            "createdAt": .text(user.createdAt.map(PageTime.text)),
            "lastSignInAt": .text(user.lastSignInAt.map(PageTime.text)),
        ])
    }

    // MARK: Writing

    static func claims(_ object: JSONObject) throws -> [String: DocumentValue] {
        var claims: [String: DocumentValue] = [:]
        for member in object { claims[member.key] = try DocumentJSON.value(member.value) }
        return claims
    }

    private func claims(_ call: PageCall) throws -> [String: DocumentValue]? {
        guard let json = call.body["claims"], !json.isNull else { return nil }
        guard let object = json.object else { throw PageFailure.invalid("“claims” has to be an object.") }
        return try Self.claims(object)
    }

    private func flag(_ name: String, _ call: PageCall) throws -> Bool? {
        call.body[name] == nil ? nil : try call.bool(name)
    }

    func create(_ call: PageCall) async throws -> JSON {
        let new = NewAccount(
            id: try call.string("id"), email: try call.string("email"),
            isEmailVerified: try call.bool("isEmailVerified"), phoneNumber: try call.string("phone"),
            password: try call.string("password").map { Secret($0) }, displayName: try call.string("name"),
            isDisabled: try call.bool("isDisabled"), claims: try claims(call) ?? [:])
        let account = try await backend.admin().create(new)
        await tell(account.id)
        return Self.json(account)
    }

    func update(_ call: PageCall) async throws -> JSON {
        let edit = AccountEdit(
            email: try call.string("email"), isEmailVerified: try flag("isEmailVerified", call),
            phoneNumber: try call.string("phone"), password: try call.string("password").map { Secret($0) },
            displayName: try call.string("name"), isDisabled: try flag("isDisabled", call), claims: try claims(call))
        let account = try await backend.admin().update(call.parameter("id"), edit)
        await tell(account.id)
        return Self.json(account)
    }

    func delete(_ call: PageCall) async throws -> JSON {
        try await backend.admin().delete(call.parameter("id"))
        await tell(call.parameter("id"))
        return [:]
    }

    // MARK: Sessions and factors

    func sessions(_ call: PageCall) async throws -> JSON {
        guard let sessions = try await backend.localSide().sessions(of: call.parameter("id")) else {
            return .object(["sessions": [], "isListed": false])
        }
        return .object(["sessions": .array(sessions), "isListed": true])
    }

    func endSessions(_ call: PageCall) async throws -> JSON {
        let id = call.parameter("id")
        let session = call.parameter("session")
        if session.isEmpty {
            try await end(allOf: id)
        } else if try await !backend.localSide().endSession(session, of: id) {
            throw PageFailure.missing("There is no such session.")
        }
        await tell(id)
        return [:]
    }

    private func end(allOf id: String) async throws {
        let admin = try await backend.admin()
        if admin.capabilities.endingSessions { return try await admin.endSessions(of: id) }
        guard let local = backend.local, let sessions = try await local.sessions(of: id) else {
            throw PageFailure.unsupported("This backend cannot end the sessions of an account; disable it instead.")
        }
        for session in sessions {
            if let name = session["id"]?.string { _ = try await local.endSession(name, of: id) }
        }
    }

    func removeFactor(_ call: PageCall) async throws -> JSON {
        guard try await backend.localSide().removeFactor(call.parameter("factor"), of: call.parameter("id")) else {
            throw PageFailure.missing("There is no such factor.")
        }
        await tell(call.parameter("id"))
        return [:]
    }
}
