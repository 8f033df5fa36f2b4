/// The behaviour of `FileStorageClient`, as checks that every provider passes according to its capabilities.
public enum FileConformance {
    public static let all: [FileCheck] = [
        contentChecks, metadataChecks, transferChecks, readingChecks, listChecks, placeChecks, refusalChecks,
        careChecks,
    ].flatMap { $0 }

    /// The checks that apply to a provider with these features.
    public static func checks(for features: FileFeatures) -> [FileCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for a provider with these features.
    public static func leftOut(for features: FileFeatures) -> [String] { all.leftOut(for: features) }
}
