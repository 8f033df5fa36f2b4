import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

/// The providers that pages about none in particular speak of.
private struct AcmeModule: InfrastructureModule {
    struct Settings: Codable, Sendable {
        var project: String
        var apiKey: Secret
    }
    static let provider: InfrastructureProvider = "acme"
    let configuration: Settings
    init(_ configuration: Settings) { self.configuration = configuration }
}

private struct GlobexModule: InfrastructureModule {
    struct Settings: Codable, Sendable {
        var url: String
        var key: Secret
    }
    static let provider: InfrastructureProvider = "globex"
    let configuration: Settings
    init(_ configuration: Settings) { self.configuration = configuration }
}

/// The JSON of the README and the articles, read as a program reads it.
@Suite struct DocumentedConfigurationTests {
    private static let environment = [
        "ACME_KEY": "key", "GLOBEX_KEY": "key", "FIREBASE_API_KEY": "key",
        "FIREBASE_SERVICE_ACCOUNT": "applicationDefault", "SUPABASE_KEY": "key", "SUPABASE_ANON_KEY": "key",
        "SUPABASE_URL": "https://demo.supabase.co",
    ]

    /// What a page's settings go without where they show something else.
    private static let required: [String: JSONObject] = [
        "SwitchyardFirebase": ["project": "demo", "apiKey": "key"],
        "SwitchyardSupabase": ["url": "https://demo.supabase.co", "key": "key"],
    ]

    /// Pieces that are no configuration, by how they begin: what a push service delivers, and faults of local servers.
    private static let others = [#"{ "aps""#, #"{"fault""#, #"{"dropEvents""#]

    /// A whole configuration, or one provider's settings in one that is otherwise complete.
    private func configuration(_ piece: String, of article: Article) throws -> InfrastructureConfiguration {
        let json = try JSON(parsing: piece)
        guard json["default"] == nil else {
            return try InfrastructureConfiguration(json: Data(piece.utf8), environment: Self.environment)
        }
        let known = Self.required.keys.first { article.path.contains("/\($0)/") }
        let module = try #require(known, "no provider goes with this page")
        var settings = try #require(Self.required[module])
        for member in try #require(json.object) { settings[member.key] = member.value }
        let provider = module == "SwitchyardFirebase" ? "firebase" : "supabase"
        var providers = JSONObject()
        providers[provider] = .object(settings)
        let whole = JSON.object(["default": .string(provider), "providers": .object(providers)])
        return try InfrastructureConfiguration(json: Data(whole.bytes()), environment: Self.environment)
    }

    @Test func `Every configuration in the documentation is read without an error`() throws {
        var read = 0
        for article in try Article.all() {
            for piece in article.blocks(of: "json") where !Self.others.contains(where: piece.hasPrefix) {
                do {
                    let configuration = try configuration(piece, of: article)
                    _ = try configuration.settings(of: AcmeModule.self)
                    _ = try configuration.settings(of: GlobexModule.self)
                    _ = try configuration.settings(of: FirebaseModule.self)
                    _ = try configuration.settings(of: SupabaseModule.self)
                    read += 1
                } catch {
                    Issue.record("\(article): \(error)\n\(piece)")
                }
            }
        }
        #expect(read >= 12)
    }
}
