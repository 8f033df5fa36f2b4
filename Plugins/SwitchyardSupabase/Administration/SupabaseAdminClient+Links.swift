import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardWire

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
            case .weakPassword: throw Self.nobody
            default: throw error
            }
        }
    }

    private static let nobody = AuthError(.userNotFound, "There is no account with this address.")

    /// Deletes an account that the link has just created, because the existing one was deleted meanwhile.
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
