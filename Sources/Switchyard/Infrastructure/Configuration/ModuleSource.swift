import Foundation
import SwitchyardBytes

/// A module as passed to the factory: ready, or a type that still needs its settings.
enum ModuleSource: Sendable {
    case configured(any InfrastructureModule)
    case configurable(any InfrastructureModule.Type)

    var provider: InfrastructureProvider {
        switch self {
        case .configured(let module): type(of: module).provider
        case .configurable(let type): type.provider
        }
    }

    /// The module with the settings of `configuration` merged over those in code.
    func module(
        _ configuration: InfrastructureConfiguration
    ) throws(InfrastructureError) -> any InfrastructureModule {
        let settings = configuration.settings[provider]
        let module: any InfrastructureModule
        do throws(ConfigurationProblem) {
            switch (self, settings) {
            case (.configured(let configured), nil): module = configured
            case (.configured(let configured), let settings?):
                module = try Self.overlay(settings, on: configured, configuration.environment)
            case (.configurable(let type), let settings):
                module = try Self.make(type, settings ?? JSONObject(), configuration.environment)
            }
        } catch {
            throw configuration.error(error)
        }
        try module.validate()
        return module
    }

    private static func make<Module: InfrastructureModule>(
        _ type: Module.Type, _ settings: JSONObject, _ environment: [String: String]
    ) throws(ConfigurationProblem) -> Module {
        Module(try Self.settings(of: type, settings, environment))
    }

    static func settings<Module: InfrastructureModule>(
        of type: Module.Type, _ settings: JSONObject, _ environment: [String: String]
    ) throws(ConfigurationProblem) -> Module.Configuration {
        try ConfigurationDecoder(
            json: .object(settings), path: ["providers", Module.provider.rawValue], environment: environment
        ).decode(Module.Configuration.self)
    }

    private static func overlay<Module: InfrastructureModule>(
        _ settings: JSONObject, on module: Module, _ environment: [String: String]
    ) throws(ConfigurationProblem) -> Module {
        var merged = settingsWithSecrets(of: module)
        // A secret set in code may itself look like a reference; only references in the file are resolved.
        for member in settings { merged[member.key] = member.value }
        return module.reconfigured(try Self.settings(of: Module.self, merged, environment))
    }

    /// Distinguishes two set-ups of a provider. Contains secrets, so it is only compared, never stored or shown.
    static func settingsWithSecrets(of module: some InfrastructureModule) -> JSONObject {
        let encoder = JSONEncoder()
        encoder.userInfo[Secret.revealingKey] = true
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(module.configuration), let json = try? JSON(parsing: data) else {
            return JSONObject()
        }
        return json.object ?? JSONObject()
    }
}
