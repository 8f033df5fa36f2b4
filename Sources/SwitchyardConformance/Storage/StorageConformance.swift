/// The behaviour of `StorageClient`, as checks that every provider passes according to its capabilities.
public enum StorageConformance {
    public static let all: [StorageCheck] = [
        fieldChecks, valueChecks, documentChecks, updateChecks, preconditionChecks, transformChecks, batchChecks,
        filterChecks, openFilterChecks, orderChecks, cursorChecks, windowChecks, groupChecks, aggregateChecks,
        transactionChecks, streamChecks, queryStreamChecks, offlineChecks, refusalChecks, inputChecks, mistakeChecks,
        lifeChecks,
    ].flatMap { $0 }

    /// The checks that apply to a provider with these features.
    public static func checks(for features: StorageFeatures) -> [StorageCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for a provider with these features. Pin this list in a test, to notice a lost
    /// capability.
    public static func leftOut(for features: StorageFeatures) -> [String] { all.leftOut(for: features) }
}
