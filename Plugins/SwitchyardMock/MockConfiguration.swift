public import Foundation

/// What a mock needs to know: nothing, unless it is to keep its contents or to be slow.
public struct MockConfiguration: Sendable, Hashable, Codable {
    /// A folder in which everything is kept across runs.
    public var folder: URL?
    /// Without ``folder``: whether the state folder that the app has chosen for all providers is used. Off by default.
    public var usesStateFolder: Bool
    /// How long every call takes. Nothing by default.
    public var latencyMilliseconds: Int
    /// Whether the project begins with ``MockSample``.
    public var hasSampleData: Bool
    /// Whether new accounts wait for their address to be confirmed; see ``MockAccounts/asksForConfirmation``.
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
        // A path, as people write it in files and variables.
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
