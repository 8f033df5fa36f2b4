/// The meaning of `StorageClient`, as checks that every provider passes as far as its capabilities go.
public enum StorageConformance {
    /// Every check there is.
    public static let all: [StorageCheck] = [
        fieldChecks, valueChecks, documentChecks, updateChecks, preconditionChecks, transformChecks, batchChecks,
        filterChecks, openFilterChecks, orderChecks, cursorChecks, windowChecks, groupChecks, aggregateChecks,
        transactionChecks, streamChecks, queryStreamChecks, offlineChecks, refusalChecks, inputChecks, mistakeChecks,
        lifeChecks,
    ].flatMap { $0 }

    /// Those that apply to a provider with these features.
    public static func checks(for features: StorageFeatures) -> [StorageCheck] { all.applicable(to: features) }

    /// The names of those that a provider with these features is spared. Pin this list in a test, so that a lost
    /// capability shows.
    public static func leftOut(for features: StorageFeatures) -> [String] { all.leftOut(for: features) }
}
