/// The meaning of `AdminClient`, as checks that every provider passes as far as its capabilities go.
public enum AdminConformance {
    public static let all: [AdminCheck] = [
        findingChecks, creationChecks, claimChecks, editChecks, barringChecks, deletionChecks, pageChecks,
        sessionChecks,
        tokenChecks, linkChecks, importChecks, manyChecks, cancellationChecks, refusalChecks, careChecks,
    ].flatMap { $0 }

    /// Those that apply to a provider with these features.
    public static func checks(for features: AdminFeatures) -> [AdminCheck] { all.applicable(to: features) }

    /// The names of those that a provider with these features is spared.
    public static func leftOut(for features: AdminFeatures) -> [String] { all.leftOut(for: features) }
}
