public import Foundation

/// The settings of a mock: none are needed, unless it should be persistent or slow.
public struct MockConfiguration: Sendable, Hashable, Codable {
    /// A folder in which everything is stored across runs.
    public var folder: URL?
    /// Without ``folder``: whether to use the state folder that the app has chosen for all providers. Off by default.
    public var usesStateFolder: Bool
    /// The latency of each call. Zero by default.
    public var latencyMilliseconds: Int
    /// Whether the project starts with ``MockSample``.
    public var hasSampleData: Bool
    /// Whether new accounts must confirm their address; see ``MockAccounts/asksForConfirmation``.
    public var asksForConfirmation: Bool

    public init(
        folder: URL? = nil, usesStateFolder: Bool = false, latencyMilliseconds: Int = 0, hasSampleData: Bool = false,
        asksForConfirmation: Bool = false
    ) {
        self.folder = folder
        self.usesStateFolder = usesStateFolder
        self.latencyMilliseconds = latencyMilliseconds
        self.hasSampleData = hasSampleData
        self.asksForConfirmation = asksForConfirmation
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case folder, usesStateFolder, latencyMilliseconds, hasSampleData, asksForConfirmation
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        // A path, as usual in files and variables.
        folder = try values.decodeIfPresent(String.self, forKey: .folder).map {
            URL(fileURLWithPath: $0, isDirectory: true)
        }
        usesStateFolder = try values.decodeIfPresent(Bool.self, forKey: .usesStateFolder) ?? false
        latencyMilliseconds = try values.decodeIfPresent(Int.self, forKey: .latencyMilliseconds) ?? 0
        hasSampleData = try values.decodeIfPresent(Bool.self, forKey: .hasSampleData) ?? false
        asksForConfirmation = try values.decodeIfPresent(Bool.self, forKey: .asksForConfirmation) ?? false
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(folder?.path, forKey: .folder)
        try values.encode(usesStateFolder, forKey: .usesStateFolder)
        try values.encode(latencyMilliseconds, forKey: .latencyMilliseconds)
        try values.encode(hasSampleData, forKey: .hasSampleData)
        try values.encode(asksForConfirmation, forKey: .asksForConfirmation)
    }
}
