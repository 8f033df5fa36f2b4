import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// What a mail would have in it.
extension SupabaseAdminClient {
    /// The link of each kind leads to `redirectURL` with a session in its fragment; one for a new password too. Whatever signs in
    /// confirms the address.
    ///
    /// - Throws: `.invalidArgument` also for a confirmation of an address that is confirmed, and where the project's settings do not
    ///   let links lead to `redirectURL`: the service would have them lead to the project's own site without a word.
    func link(_ kind: AccountLink, for email: String, redirectURL: URL?) async throws(AuthError) -> URL {
        try SupabaseAccountFields.check(email: email)
        let answer: JSON
        switch kind {
        case .passwordReset: answer = try await link("recovery", email, redirectURL)
        case .emailConfirmation: answer = try await confirmationLink(email, redirectURL)
        case .signIn:
            // Whoever is unknown would get an account by the link that signs in, and gets none by this one.
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

    /// What a sign-up would have sent. It takes no password where the account is there already.
    private func confirmationLink(_ email: String, _ redirectURL: URL?) async throws(AuthError) -> JSON {
        do throws(AuthError) {
            return try await link("signup", email, redirectURL)
        } catch {
            switch error.code {
            case .emailInUse:
                throw AuthError(
                    .invalidArgument, "The address is confirmed already and needs no link.", underlying: error)
            // One would be needed for a new account.
            case .weakPassword: throw Self.nobody
            default: throw error
            }
        }
    }

    private static let nobody = AuthError(.userNotFound, "There is no account with this address.")

    /// Takes back an account that the link was the first to make, which was deleted while the link was asked for.
    private func checkAccountIsOld(_ answer: JSON) async throws(AuthError) {
        guard answer["verification_type"]?.string == "signup" else { return }
        if let id = answer["id"]?.string, SupabaseAccountFields.isID(id) { try await delete(id) }
        throw Self.nobody
    }

    private func link(_ type: String, _ email: String, _ redirectURL: URL?) async throws(AuthError) -> JSON {
        let target = redirectURL.map { "?redirect_to=\(PercentCoding.encode($0.absoluteString))" } ?? ""
        return try await call(
            .post, "/admin/generate_link\(target)", ["type": .string(type), "email": .string(email)])
    }
}
