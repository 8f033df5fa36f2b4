import SwitchyardServerKit

extension ServerSigningKey.Kind {
    static let refreshToken = Self("local-refresh")
    static let pendingSecondFactor = Self("local-second-factor")
    static let pendingCredential = Self("local-credential")
    static let temporaryProof = Self("local-proof")
    static let installationToken = Self("local-installation")
}
