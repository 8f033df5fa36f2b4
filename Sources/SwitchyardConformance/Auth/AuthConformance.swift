/// The behaviour of `AuthClient`, as checks that every provider passes according to its capabilities.
public enum AuthConformance {
    public static let all: [AuthCheck] = [
        passwordChecks, stateChecks, tokenChecks, accountChecks, deviceChecks, anonymousChecks, identityChecks,
        codeChecks, confirmationChecks,
        factorChecks, refusalChecks, careChecks,
    ].flatMap { $0 }

    /// The checks that apply to a provider with these features.
    public static func checks(for features: AuthFeatures) -> [AuthCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for a provider with these features.
    public static func leftOut(for features: AuthFeatures) -> [String] { all.leftOut(for: features) }
}
