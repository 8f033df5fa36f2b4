/// The meaning of `FileStorageClient`, as checks that every provider passes as far as its capabilities go.
public enum FileConformance {
    public static let all: [FileCheck] = [
        contentChecks, metadataChecks, transferChecks, readingChecks, listChecks, placeChecks, refusalChecks,
        careChecks,
    ].flatMap { $0 }

    /// Those that apply to a provider with these features.
    public static func checks(for features: FileFeatures) -> [FileCheck] { all.applicable(to: features) }

    /// The names of those that a provider with these features is spared.
    public static func leftOut(for features: FileFeatures) -> [String] { all.leftOut(for: features) }
}
