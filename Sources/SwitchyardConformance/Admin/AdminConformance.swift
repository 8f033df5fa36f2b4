/// The behaviour of `AdminClient`, as checks that every provider passes according to its capabilities.
public enum AdminConformance {
    public static let all: [AdminCheck] = [
        findingChecks, creationChecks, claimChecks, editChecks, barringChecks, deletionChecks, pageChecks,
        sessionChecks,
        tokenChecks, linkChecks, importChecks, manyChecks, cancellationChecks, refusalChecks, careChecks,
    ].flatMap { $0 }

    /// The checks that apply to a provider with these features.
    public static func checks(for features: AdminFeatures) -> [AdminCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for a provider with these features.
    public static func leftOut(for features: AdminFeatures) -> [String] { all.leftOut(for: features) }
}
