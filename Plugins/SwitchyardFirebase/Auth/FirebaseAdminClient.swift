import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// The accounts of a Firebase project, managed with the calls that are open to its service accounts.
final class FirebaseAdminClient: AdminClient {
    let provider: InfrastructureProvider = .firebase
    let capabilities: AdminCapabilities
    let service: FirebaseAdminService
    private let signer: (any CustomTokenSigner)?
    private let now: @Sendable () -> Timestamp

    init(_ context: FirebaseContext, _ tokens: ProjectTokens) {
        service = FirebaseAdminService(context, tokens)
        signer = context.customTokenSigner(tokens)
        now = context.module.now
        var capabilities = AdminCapabilities()
        capabilities.endingSessions = true
        capabilities.customTokens = signer != nil
        capabilities.links = Set(AccountLink.allCases)
        // An emulator does not check password hashes.
        capabilities.passwordHashes = service.isEmulator ? [] : [.bcrypt, .pbkdf2SHA256, .keyedScrypt]
        self.capabilities = capabilities
    }

    // MARK: Looking

    private static let lookupLimit = 100

    func accounts(_ keys: [AccountKey]) async throws(AuthError) -> [ManagedAccount?] {
        var found: [ManagedAccount] = []
        for start in stride(from: 0, to: keys.count, by: Self.lookupLimit) {
            var body: JSONObject = [:]
            for key in keys[start...].prefix(Self.lookupLimit) {
                let (name, value): (String, String) =
                    switch key {
                    case .id(let id): ("localId", id)
                    case .email(let email): ("email", email)
                    case .phoneNumber(let number): ("phoneNumber", number)
                    }
                body[name] = .array((body[name]?.array ?? []) + [.string(value)])
            }
            let answer = try await service.post("accounts:lookup", body)
            found += (answer["users"]?.array ?? []).compactMap { ManagedAccount(firebase: $0) }
        }
        return keys.map { key in
            found.first { account in
                switch key {
                case .id(let id): account.id == id
                case .email(let email): account.email?.lowercased() == email.lowercased()
                case .phoneNumber(let number): account.user.phoneNumber == number
                }
            }
        }
    }

    /// Sorted by account ID, so that created and deleted accounts do not shift the others.
    func accountPage(after cursor: AccountCursor?, limit: Int) async throws(AuthError) -> AccountPage {
        guard (1...1000).contains(limit) else {
            throw AuthError(.invalidArgument, "A page has 1 to 1000 accounts, not \(limit).")
        }
        var query = [(name: "maxResults", value: "\(limit)")]
        if let cursor { query.append(("nextPageToken", cursor.rawValue)) }
        let answer = try await service.get("accounts:batchGet", query)
        let next = answer["nextPageToken"]?.string.flatMap { $0.isEmpty ? nil : AccountCursor(rawValue: $0) }
        let accounts = (answer["users"]?.array ?? []).compactMap { ManagedAccount(firebase: $0) }
        // The service returns a next page even if there is none.
        return AccountPage(accounts: accounts, next: accounts.isEmpty ? nil : next)
    }

    // MARK: Changing

    @discardableResult
    func create(_ account: NewAccount) async throws(AuthError) -> ManagedAccount {
        let claims = account.claims.isEmpty ? nil : try Self.text(of: account.claims)
        try Self.check(account.email, account.phoneNumber)
        if let id = account.id { try await checkIsUnused(id) }
        let answer = try await service.post("accounts", account.firebase)
        guard let id = answer["localId"]?.string else {
            throw AuthError(
                .unavailable,
                "The server's answer does not name the new account. Look for it before you create it again.")
        }
        // The call above does not accept claims.
        if let claims {
            do throws(AuthError) {
                _ = try await service.post(
                    "accounts:update", ["localId": .string(id), "customAttributes": .string(claims)])
            } catch {
                guard await remove(id) else {
                    throw error.saying(
                        "\(error.message) The new account, “\(id)”, exists without its claims, since it could not be deleted "
                            + "again: delete it, or set them.")
                }
                throw error
            }
        }
        return try await self.account(id)
    }

    /// Deletes an account that could not be completed, also for a cancelled caller.
    ///
    /// - Returns: Whether it is gone.
    private func remove(_ id: AuthUser.ID) async -> Bool {
        await Task {
            do throws(AuthError) {
                try await delete(id)
                return true
            } catch {
                return error.code == .userNotFound
            }
        }.value
    }

    /// The server reports a taken ID with the same code as a taken address.
    private func checkIsUnused(_ id: AuthUser.ID) async throws(AuthError) {
        try Self.check(id)
        guard try await accounts([.id(id)])[0] == nil else {
            throw AuthError(.identityInUse, "An account with the ID “\(id)” exists already.")
        }
    }

    /// The server treats an empty address or number as none.
    private static func check(_ email: String?, _ phoneNumber: String?) throws(AuthError) {
        if email == "" { throw AuthError(.invalidArgument, "This is not an email address.") }
        if phoneNumber == "" {
            throw AuthError(.invalidArgument, "This is not a phone number with a country code, such as +15550100.")
        }
    }

    private static func check(_ id: AuthUser.ID) throws(AuthError) {
        guard !id.isEmpty, id.utf8.count <= 128 else {
            throw AuthError(.invalidArgument, "The account's ID is not valid. Use 1 to 128 characters.")
        }
    }

    @discardableResult
    func update(_ id: AuthUser.ID, _ edit: AccountEdit) async throws(AuthError) -> ManagedAccount {
        try Self.check(edit.email, edit.phoneNumber)
        var body = edit.firebase
        if let claims = edit.claims { body["customAttributes"] = .string(try Self.text(of: claims)) }
        if !body.isEmpty {
            body["localId"] = .string(id)
            _ = try await service.post("accounts:update", body)
        }
        return try await account(id)
    }

    private static func text(of claims: [String: DocumentValue]) throws(AuthError) -> String {
        let text = JSON.object(try JSONObject(claims: claims)).text()
        guard text.utf8.count <= 1000 else {
            throw AuthError(
                .invalidArgument, "The claims have \(text.utf8.count) bytes as JSON; Firebase accepts at most 1000.")
        }
        return text
    }

    func delete(_ id: AuthUser.ID) async throws(AuthError) {
        _ = try await service.post("accounts:delete", ["localId": .string(id)])
    }

    private static let batchLimit = 1000

    func delete(_ ids: [AuthUser.ID]) async throws(AuthError) -> [AuthUser.ID: AuthError] {
        var failures: [AuthUser.ID: AuthError] = [:]
        for start in stride(from: 0, to: ids.count, by: Self.batchLimit) {
            let part = Array(ids[start...].prefix(Self.batchLimit))
            let answer = try await service.post(
                "accounts:batchDelete", ["localIds": .array(part.map { .string($0) }), "force": true])
            for (id, error) in Self.failures(answer["errors"], among: part) { failures[id] = error }
        }
        return failures
    }

    /// The failed entries of a batch call.
    private static func failures(_ list: JSON?, among ids: [AuthUser.ID]) -> [(AuthUser.ID, AuthError)] {
        (list?.array ?? []).compactMap { entry in
            // The index of the first entry is omitted.
            let index = Int(entry["index"]?.int64 ?? 0)
            guard ids.indices.contains(index) else { return nil }
            let text = entry["message"]?.string?.lowercased() ?? ""
            let isTaken = text.includes("exist") || text.includes("duplicate")
            let code: AuthError.Code =
                isTaken ? text.includes("email") ? .emailInUse : .identityInUse : .invalidArgument
            return (
                ids[index],
                AuthError(
                    code,
                    isTaken
                        ? "An account with this ID, email address or phone number exists already."
                        : "The server does not accept the account. Check its ID, email address, phone number and hash.")
            )
        }
    }

    func endSessions(of id: AuthUser.ID) async throws(AuthError) {
        _ = try await service.post(
            "accounts:update", ["localId": .string(id), "validSince": .string("\(now().seconds)")])
    }

    // MARK: Tokens and links

    func customToken(for id: AuthUser.ID, claims: [String: DocumentValue]) async throws(AuthError) -> Secret {
        try Self.check(id)
        guard let signer else {
            throw .unsupported(
                "custom tokens without a service account", by: provider,
                instead:
                    "Set credential to a service account's key file, or serviceAccount in Firebase's configuration to the "
                    + "address of an account in whose name the credential may sign.")
        }
        let email = try await signer.account()
        let start = now().seconds
        var body: JSONObject = [
            "iss": .string(email), "sub": .string(email), "uid": .string(id), "iat": .integer(start),
            "exp": .integer(start + 3600),
            "aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit",
        ]
        if !claims.isEmpty { body["claims"] = .object(try JSONObject(claims: claims)) }
        return try await signer.token(body)
    }

    func link(_ kind: AccountLink, for email: String, redirectURL: URL?) async throws(AuthError) -> URL {
        // The server would create a sign-in link for any address.
        _ = try await account(email: email)
        var body: JSONObject = ["email": .string(email), "returnOobLink": true]
        switch kind {
        case .passwordReset: body["requestType"] = "PASSWORD_RESET"
        case .emailConfirmation: body["requestType"] = "VERIFY_EMAIL"
        case .signIn:
            body["requestType"] = "EMAIL_SIGNIN"
            body["canHandleCodeInApp"] = true
        }
        if let redirectURL { body["continueUrl"] = .string(redirectURL.absoluteString) }
        guard kind != .signIn || redirectURL != nil else {
            throw AuthError(
                .invalidArgument, "A link that signs in needs a redirectURL, the page that the app handles.")
        }
        let answer = try await service.post("accounts:sendOobCode", body)
        guard let link = answer["oobLink"]?.string.flatMap({ URL(string: $0) }) else {
            throw AuthError(.unavailable, "The server's answer contains no link. Try again.")
        }
        return link
    }

    // MARK: Importing

    func importAccounts(_ accounts: [ImportedAccount]) async throws(AuthError) -> [AuthUser.ID: AuthError] {
        guard !service.isEmulator else {
            throw .unsupported(
                "importing accounts into an emulator", by: provider, instead: "Create them with passwords.")
        }
        var failures: [AuthUser.ID: AuthError] = [:]
        // All hashes of one call must be of the same kind.
        var groups: [(parameters: JSONObject, users: [(id: AuthUser.ID, json: JSON)])] = []
        for account in accounts {
            let (parameters, json): (JSONObject, JSON)
            do throws(AuthError) {
                parameters = try account.passwordHash?.firebaseParameters ?? [:]
                json = try imported(account)
            } catch {
                failures[account.id] = error
                continue
            }
            if let place = groups.firstIndex(where: { $0.parameters == parameters }) {
                groups[place].users.append((account.id, json))
            } else {
                groups.append((parameters, [(account.id, json)]))
            }
        }
        for group in groups {
            for start in stride(from: 0, to: group.users.count, by: Self.batchLimit) {
                let part = Array(group.users[start...].prefix(Self.batchLimit))
                var body = group.parameters
                body["users"] = .array(part.map(\.json))
                body["allowOverwrite"] = false
                let answer = try await service.post("accounts:batchCreate", body)
                for (id, error) in Self.failures(answer["error"], among: part.map(\.id)) { failures[id] = error }
            }
        }
        return failures
    }

    private func imported(_ imported: ImportedAccount) throws(AuthError) -> JSON {
        var account = imported.account
        account.id = imported.id
        account.password = nil
        var user = account.firebase
        if !account.claims.isEmpty { user["customAttributes"] = .string(try Self.text(of: account.claims)) }
        switch imported.passwordHash {
        case .bcrypt(let hash): user["passwordHash"] = .string(Base64.encode(Array(hash.reveal().utf8), alphabet: .url))
        case .pbkdf2SHA256(let hash, let salt, _), .keyedScrypt(let hash, let salt, _):
            guard let bytes = Base64.decode(hash.reveal()), let grains = Base64.decode(salt.reveal()) else {
                throw AuthError(.invalidArgument, "The hash or the salt of “\(imported.id)” is not base64.")
            }
            user["passwordHash"] = .string(Base64.encode(bytes, alphabet: .url))
            user["salt"] = .string(Base64.encode(grains, alphabet: .url))
        case .argon2, nil: break
        }
        return .object(user)
    }
}
