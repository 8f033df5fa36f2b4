/// The meaning of `AuthClient`, as checks that every provider passes as far as its capabilities go.
public enum AuthConformance {
    public static let all: [AuthCheck] = [
        passwordChecks, stateChecks, tokenChecks, accountChecks, deviceChecks, anonymousChecks, identityChecks,
        codeChecks, confirmationChecks,
        factorChecks, refusalChecks, careChecks,
    ].flatMap { $0 }

    /// Those that apply to a provider with these features.
    public static func checks(for features: AuthFeatures) -> [AuthCheck] { all.applicable(to: features) }

    /// The names of those that a provider with these features is spared.
    public static func leftOut(for features: AuthFeatures) -> [String] { all.leftOut(for: features) }
}
