import Foundation
import Switchyard

/// A provider with settings of every kind, and no client.
struct AcmeModule: InfrastructureModule {
    static let provider: InfrastructureProvider = "acme"
    let configuration: AcmeConfiguration
    init(_ configuration: AcmeConfiguration) { self.configuration = configuration }

    func validate() throws(InfrastructureError) {
        if configuration.retries < 0 {
            throw InfrastructureError(.invalidConfiguration, "“retries” of acme cannot be negative.")
        }
    }
}

struct AcmeConfiguration: Codable, Sendable, Equatable {
    struct Limits: Codable, Sendable, Equatable {
        var uploads: Int
        var ratio: Double?
    }

    var project: String
    var apiKey: Secret
    var server: URL?
    var retries: Int
    var limits: Limits?
    var regions: [String]?

    init(project: String, apiKey: Secret, retries: Int = 3) {
        self.project = project
        self.apiKey = apiKey
        self.retries = retries
    }
}
