import Switchyard

/// The legacy secret of a project, with which it signs its tokens.
enum LegacySecret {
    /// As many bytes as the code's hash has. The data service refuses to start with less, so every project's has them.
    static let minimum = 32

    /// Why a secret proves nothing: everybody could sign with an empty one, or with a key that apps contain.
    static func problem(of secret: Secret) -> String? {
        let text = secret.reveal()
        if text.utf8.allSatisfy({ $0 <= 0x20 }) { return "is empty" }
        if SupabaseModule.isSecret(text) || SupabaseModule.isPublic(text) {
            return "is a key of the project, not the secret that signs its tokens"
        }
        if text.utf8.count < minimum {
            return "has \(text.utf8.count) bytes, and every project's has at least \(minimum)"
        }
        return nil
    }
}
