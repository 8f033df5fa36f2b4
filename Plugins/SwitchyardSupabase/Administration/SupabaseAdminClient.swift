import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// A project's accounts, managed with the administrator's calls of its auth service and the service key.
///
/// Phone numbers cannot be looked up: one call walks through all accounts for all of its numbers, with a request per thousand
/// accounts. Looking up an address costs a server-side table search and a request. Lists contain neither the second factors of
/// accounts nor the identities that their `app_metadata` does not name.
///
/// Only a new password ends a user's sessions. Custom tokens are not supported. Of the hashes in ``PasswordHash``, the service
/// supports all but PBKDF2.
struct SupabaseAdminClient: AdminClient {
    let provider: InfrastructureProvider = .supabase
    let capabilities: AdminCapabilities
    let service: SupabaseAuthService
    private let bearer: Secret?

    /// - Parameter service: A service with the service key instead of the public one.
    init(_ service: SupabaseAuthService) {
        var capabilities = AdminCapabilities()
        capabilities.links = Set(AccountLink.allCases)
        capabilities.passwordHashes = [.bcrypt, .argon2, .keyedScrypt]
        self.capabilities = capabilities
        var service = service
        service.maximumAnswer = 64 << 20
        self.service = service
        bearer = SupabaseTokens.RequestCredentials(key: service.apiKey, user: nil).bearer
    }

    // MARK: Changing

    @discardableResult
    func create(_ account: NewAccount) async throws(AuthError) -> ManagedAccount {
        try await create(account, id: account.id, hash: nil)
    }

    private func create(
        _ account: NewAccount, id: AuthUser.ID?, hash: PasswordHash?
    ) async throws(AuthError) -> ManagedAccount {
        let hash = try hash?.supabase
        var fields = try SupabaseAccountFields(account)
        if let id { try fields.set(id: id) }
        if let hash { fields.set(hash: hash) }
        guard account.email != nil || account.phoneNumber != nil else {
            throw AuthError(
                .invalidArgument,
                "Supabase creates accounts only with an email address or a phone number. Pass one of them.")
        }
        do throws(AuthError) {
            return try managed(try await call(.post, "/admin/users", fields.json))
        } catch {
            // The service checks the address first, and leaves a taken ID to its database.
            if error.isOfDatabase || error.code == .emailInUse || error.code == .identityInUse, let id,
                (try? await json(of: id)) != nil
            {
                throw AuthError(.identityInUse, "An account with this ID already exists.", underlying: error)
            }
            throw await clarified(error, email: account.email, phone: nil, of: nil)
        }
    }

    @discardableResult
    func update(_ id: AuthUser.ID, _ edit: AccountEdit) async throws(AuthError) -> ManagedAccount {
        // Check the arguments before any request.
        var fields = try SupabaseAccountFields(edit, of: nil)
        if fields.json.isEmpty || edit.claims != nil || edit.isEmailVerified == false {
            guard let current = try await json(of: id) else { throw Self.noAccount(id) }
            if edit.isEmailVerified == false, current["email_confirmed_at"]?.string != nil {
                throw .unsupported(
                    "addresses that stop being confirmed", by: provider,
                    instead: "Disable the account, or keep what you know of its address in a claim.")
            }
            fields = try SupabaseAccountFields(edit, of: current)
            if fields.json.isEmpty { return try managed(current) }
        }
        guard SupabaseAccountFields.isID(id) else { throw Self.noAccount(id) }
        do throws(AuthError) {
            return try managed(try await call(.put, "/admin/users/\(id)", fields.json))
        } catch {
            throw await clarified(error, email: edit.email, phone: edit.phoneNumber, of: id)
        }
    }

    func delete(_ id: AuthUser.ID) async throws(AuthError) {
        guard SupabaseAccountFields.isID(id) else { throw Self.noAccount(id) }
        _ = try await call(.delete, "/admin/users/\(id)")
    }

    /// The database refuses changes without a reason, so find out whether an address or a number is taken.
    private func clarified(
        _ error: AuthError, email: String?, phone: String?, of id: AuthUser.ID?
    ) async -> AuthError {
        guard error.isOfDatabase else { return error }
        if let email, let other = try? await self.id(ofEmail: email), other != id?.lowercased() {
            return AuthError(.emailInUse, "An account with this address already exists.", underlying: error)
        }
        if let phone, let digits = SupabaseAccountFields.digits(ofPhone: phone),
            let other = try? await ids(ofPhones: [digits])[digits], other != id?.lowercased()
        {
            return AuthError(.identityInUse, "An account with this number already exists.", underlying: error)
        }
        return error
    }

    func importAccounts(_ accounts: [ImportedAccount]) async throws(AuthError) -> [AuthUser.ID: AuthError] {
        try Self.checkCancellation()
        let results = try await each(accounts) { imported throws(AuthError) in
            var account = imported.account
            account.password = nil
            return try await create(account, id: imported.id, hash: imported.passwordHash)
        }
        var failures: [AuthUser.ID: AuthError] = [:]
        for (account, result) in zip(accounts, results) {
            if case .failure(let error) = result { failures[account.id] = error }
        }
        return failures
    }

    // MARK: Calls

    func call(_ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil) async throws(AuthError) -> JSON {
        try Self.checkCancellation()
        do throws(SupabaseAuthFailure) {
            return try await service.call(method, path, body, as: bearer)
        } catch {
            throw AuthError(administration: error)
        }
    }

    private func managed(_ json: JSON) throws(AuthError) -> ManagedAccount {
        if let account = ManagedAccount(supabase: json, at: service.now()) { return account }
        guard let id = json["id"]?.string else { throw AuthError(SupabaseAuthFailure.unreadable) }
        throw Self.noAccount(id)
    }

    private static func noAccount(_ id: AuthUser.ID) -> AuthError {
        AuthError(.userNotFound, "There is no account with the ID “\(id)”.")
    }

    static func checkCancellation() throws(AuthError) {
        if Task.isCancelled { throw AuthError(.cancelled, "The call was cancelled.") }
    }
}

extension AuthError {
    /// Whether the service's database refused a change, which the service reports as a general failure.
    fileprivate var isOfDatabase: Bool { (details.underlying as? SupabaseAuthFailure)?.status == 500 }
}

/// The links that an email would contain.
extension SupabaseAdminClient {
    /// A link of each kind leads to `redirectURL` with a session in its fragment, even one for a new password. Every link that
    /// signs in also confirms the address.
    ///
    /// - Throws: `.invalidArgument` also if a confirmed address should be confirmed, and if the project's settings do not allow
    ///   links to `redirectURL`, which the service would silently replace with the project's own site.
    func link(_ kind: AccountLink, for email: String, redirectURL: URL?) async throws(AuthError) -> URL {
        try SupabaseAccountFields.check(email: email)
        let answer: JSON
        switch kind {
        case .passwordReset: answer = try await link("recovery", email, redirectURL)
        case .emailConfirmation: answer = try await confirmationLink(email, redirectURL)
        case .signIn:
            // A link that signs in would create an account for an unknown address; this one does not.
            _ = try await link("recovery", email, redirectURL)
            answer = try await link("magiclink", email, redirectURL)
            try await checkAccountIsOld(answer)
        }
        guard let url = answer["action_link"]?.string.flatMap({ URL(string: $0) }) else {
            throw AuthError(SupabaseAuthFailure.unreadable)
        }
        if let redirectURL, answer["redirect_to"]?.string != redirectURL.absoluteString {
            throw AuthError(
                .invalidArgument,
                "The project's links may not lead to this address. Add it: Authentication, URL Configuration, Redirect URLs."
            )
        }
        return url
    }

    /// The link of a sign-up. It needs no password if the account exists.
    private func confirmationLink(_ email: String, _ redirectURL: URL?) async throws(AuthError) -> JSON {
        do throws(AuthError) {
            return try await link("signup", email, redirectURL)
        } catch {
            switch error.code {
            case .emailInUse:
                throw AuthError(
                    .invalidArgument, "The address is confirmed already and needs no link.", underlying: error)
            // A new account would need a password.
            case .weakPassword: throw Self.noneWithAddress
            default: throw error
            }
        }
    }

    private static let noneWithAddress = AuthError(.userNotFound, "There is no account with this address.")

    /// Deletes an account that the link has just created, because the existing one was deleted meanwhile.
    private func checkAccountIsOld(_ answer: JSON) async throws(AuthError) {
        guard answer["verification_type"]?.string == "signup" else { return }
        if let id = answer["id"]?.string, SupabaseAccountFields.isID(id) { try await delete(id) }
        throw Self.noneWithAddress
    }

    private func link(_ type: String, _ email: String, _ redirectURL: URL?) async throws(AuthError) -> JSON {
        let target = redirectURL.map { "?redirect_to=\(PercentCoding.encode($0.absoluteString))" } ?? ""
        return try await call(
            .post, "/admin/generate_link\(target)", ["type": .string(type), "email": .string(email)])
    }
}
