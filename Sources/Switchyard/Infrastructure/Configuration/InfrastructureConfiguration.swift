public import Foundation
import SwitchyardBytes

/// The providers, their settings, and the provider of each client: from code, a JSON file or the environment.
///
/// ```json
/// {
///   "default": "acme",
///   "clients": { "storage": "globex", "messaging": "none" },
///   "providers": {
///     "acme": { "project": "demo", "apiKey": "${ACME_API_KEY}" },
///     "globex": { "url": "https://demo.globex.example", "key": "${GLOBEX_KEY}" }
///   },
///   "stateFolder": "/var/lib/demo",
///   "retry": { "maximumAttempts": 4 }
/// }
/// ```
///
/// Settings here take precedence over those of a module that was configured in code. Text that is exactly `${NAME}` is
/// replaced by that environment variable, and written back unchanged. The error for a mistake says where it is, what was
/// found and what was expected. Settings of providers that are not chosen are checked as well, since a switch may choose
/// them.
///
/// Any other coder reads and writes the same shape. A decoder takes the variables from ``Secret/environmentKey`` in its
/// `userInfo`, else from the process's environment.
public struct InfrastructureConfiguration: Sendable {
    public var selection: InfrastructureSelection
    /// A folder for data that must outlast the process, with a subfolder for each provider. `nil` keeps everything in memory.
    public var stateFolder: URL?
    /// How local files are protected and shared; `nil` for what the options of the program say.
    public var localFiles: LocalFileOptions?
    /// How failed calls are repeated if that is safe; `nil` for no retries.
    public var retry: RetryPolicy?
    /// Where `${NAME}` is looked up. Never shown, and never written.
    public var environment: [String: String]
    /// Each provider's settings, in the shape of a file.
    var settings: [InfrastructureProvider: JSONObject] = [:]
    /// Whether it was read from environment variables only, which mistakes are told by.
    var isFromVariables = false
    /// The places outside the settings that named a variable, so that they are written back the same way.
    private var references: [[String]: Reference] = [:]

    private struct Reference: Equatable {
        let text: String
        let value: String
    }

    /// A configuration file has at most this many bytes.
    public static let maximumBytes = 1 << 20
    /// The name that, in place of a provider, means no client.
    static let noProvider = "none"

    public init(_ selection: InfrastructureSelection, stateFolder: URL? = nil, environment: [String: String] = [:]) {
        self.selection = selection
        self.stateFolder = stateFolder
        self.environment = environment
    }

    // MARK: Settings in code

    /// Sets a provider's settings to a value of its own type, replacing earlier ones.
    ///
    /// A secret is stored by its own name, or by one made from its place, such as `ACME_API_KEY`; its value is added to
    /// ``environment``.
    public mutating func setUp<Module: InfrastructureModule>(
        _ type: Module.Type, with settings: Module.Configuration
    ) throws(InfrastructureError) {
        let names = SecretNames(prefix: Module.provider.rawValue)
        let encoder = JSONEncoder()
        encoder.userInfo[Secret.namesKey] = names
        encoder.outputFormatting = .sortedKeys
        let json: JSON?
        do { json = try JSON(parsing: try encoder.encode(settings)) } catch { json = nil }
        guard let object = json?.object else {
            throw InfrastructureError(
                .invalidConfiguration, "The settings of “\(Module.provider)” cannot be written as a JSON object.")
        }
        self.settings[Module.provider] = object
        environment.merge(names.values) { _, new in new }
    }

    /// A provider's settings as a value of its own type; `nil` if there are none.
    ///
    /// - Throws: `.invalidConfiguration` for settings that the type does not know or accept.
    public func settings<Module: InfrastructureModule>(
        of type: Module.Type
    ) throws(InfrastructureError) -> Module.Configuration? {
        guard let object = settings[Module.provider] else { return nil }
        do throws(ConfigurationProblem) {
            return try ModuleSource.settings(of: type, object, environment)
        } catch {
            throw self.error(error)
        }
    }

    /// The error for a mistake in this configuration, with the place as its author knows it.
    func error(_ problem: ConfigurationProblem) -> InfrastructureError {
        (isFromVariables ? problem.inVariables : problem).error
    }

    // MARK: The shape of a file

    init(_ json: JSON, environment: [String: String]) throws(ConfigurationProblem) {
        let top = try json.requireObject(
            at: [], keys: ["default", "clients", "providers", "stateFolder", "localFiles", "retry"])
        guard let `default` = top["default"] else {
            throw ConfigurationProblem(path: ["default"], found: "nothing", expected: "the name of a provider")
        }
        self.init(InfrastructureSelection(default: ""), environment: environment)
        selection.default = InfrastructureProvider(rawValue: try text(`default`, at: ["default"]))
        if let clients = top["clients"] {
            for member in try clients.requireObject(
                at: ["clients"], keys: InfrastructureService.allCases.map(\.rawValue))
            {
                guard let service = InfrastructureService(rawValue: member.key) else { continue }
                let path = ["clients", member.key]
                try choose(try text(member.value, at: path), for: service, at: path)
            }
        }
        if let providers = top["providers"] {
            for member in try providers.requireObject(at: ["providers"], keys: nil) {
                if member.value.string == Self.noProvider {
                    throw ConfigurationProblem(
                        path: ["providers", member.key], found: "“none”", expected: "a provider's settings",
                        advice: "What leaves out files or messages stands under “clients”.")
                }
                settings[InfrastructureProvider(rawValue: member.key)] =
                    try member.value.requireObject(at: ["providers", member.key], keys: nil)
            }
        }
        if let folder = top["stateFolder"], !folder.isNull {
            stateFolder = try Self.folder(try text(folder, at: ["stateFolder"]), at: ["stateFolder"])
        }
        if let files = top["localFiles"], !files.isNull { localFiles = try fileOptions(files, at: ["localFiles"]) }
        if let policy = top["retry"], !policy.isNull { retry = try retryPolicy(policy, at: ["retry"]) }
    }

    /// An empty path would be the current folder.
    static func folder(_ text: String, at path: [String]) throws(ConfigurationProblem) -> URL {
        guard !text.allSatisfy({ $0 == " " }) else {
            throw ConfigurationProblem(
                path: path, found: "an empty text",
                expected: "the path of a folder, or nothing at all to keep everything in memory")
        }
        return URL(fileURLWithPath: text, isDirectory: true)
    }

    func fileOptions(_ json: JSON, at path: [String]) throws(ConfigurationProblem) -> LocalFileOptions {
        _ = try json.requireObject(at: path, keys: LocalFileOptions.keys)
        return try ConfigurationDecoder(json: json, path: path, environment: environment).decode(LocalFileOptions.self)
    }

    func retryPolicy(_ json: JSON, at path: [String]) throws(ConfigurationProblem) -> RetryPolicy {
        _ = try json.requireObject(at: path, keys: nil)
        return try ConfigurationDecoder(json: json, path: path, environment: environment).decode(RetryPolicy.self)
    }

    mutating func choose(
        _ provider: String, for service: InfrastructureService, at path: [String]
    ) throws(ConfigurationProblem) {
        guard provider == InfrastructureConfiguration.noProvider else {
            selection[service] = InfrastructureProvider(rawValue: provider)
            return
        }
        guard service == .files || service == .messaging else {
            throw ConfigurationProblem(
                path: path, found: "“none”", expected: "a provider: only files and messaging can be left out")
        }
        selection.omit(service)
    }

    /// The text at a place, or the value of the variable that it names.
    private mutating func text(_ json: JSON, at path: [String]) throws(ConfigurationProblem) -> String {
        guard let string = json.string else {
            throw ConfigurationProblem(path: path, found: json.kindForPeople, expected: "a string")
        }
        guard let name = Secret.variable(in: string) else { return string }
        guard let value = environment[name], !value.isEmpty else {
            throw ConfigurationProblem.unset(name, at: path)
        }
        references[path] = Reference(text: string, value: value)
        return value
    }

    /// In the shape of a file.
    var shape: JSON {
        var clients = JSONObject()
        for service in InfrastructureService.allCases {
            if let provider = selection[service] {
                clients[service.rawValue] = written(provider.rawValue, at: ["clients", service.rawValue])
            }
            if selection.omitted.contains(service) {
                clients[service.rawValue] = written(
                    InfrastructureConfiguration.noProvider, at: ["clients", service.rawValue])
            }
        }
        var providers = JSONObject()
        for (provider, object) in settings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            providers[provider.rawValue] = .object(object)
        }
        var top: JSONObject = ["default": written(selection.default.rawValue, at: ["default"])]
        if !clients.isEmpty { top["clients"] = .object(clients) }
        if !providers.isEmpty { top["providers"] = .object(providers) }
        if let stateFolder { top["stateFolder"] = writtenPath(stateFolder.path) }
        if let localFiles { top["localFiles"] = localFiles.shape }
        if let retry { top["retry"] = retry.shape }
        return .object(top)
    }

    /// The variable that a value came from, if the value is unchanged.
    private func written(_ value: String, at path: [String]) -> JSON {
        references[path].flatMap { $0.value == value ? .string($0.text) : nil } ?? .string(value)
    }

    private func writtenPath(_ path: String) -> JSON {
        guard let reference = references[["stateFolder"]],
            URL(fileURLWithPath: reference.value, isDirectory: true).path == path
        else { return .string(path) }
        return .string(reference.text)
    }
}

extension InfrastructureConfiguration: Equatable {
    /// The order of keys makes no difference.
    public static func == (left: Self, right: Self) -> Bool {
        left.selection == right.selection && left.stateFolder == right.stateFolder && left.retry == right.retry
            && left.localFiles == right.localFiles && left.environment == right.environment
            && left.references == right.references
            && left.settings.mapValues { JSON.object($0).sorted } == right.settings.mapValues { JSON.object($0).sorted }
    }
}

extension InfrastructureConfiguration: CustomStringConvertible, CustomReflectable {
    /// Names only: settings and variables may contain secrets.
    public var description: String {
        let clients = InfrastructureService.allCases.compactMap { service in
            selection[service].map { ", \(service): \($0)" }
                ?? (selection.omitted.contains(service) ? ", \(service): none" : nil)
        }
        let providers = settings.keys.map(\.rawValue).sorted()
        return "InfrastructureConfiguration(default: \(selection.default)\(clients.joined())"
            + (providers.isEmpty ? ")" : ", settings of \(providers.joined(separator: ", ")))")
    }

    /// Used by `dump`; shows the selection but no secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "selection": selection, "stateFolder": stateFolder as Any, "localFiles": localFiles as Any,
                "retry": retry as Any,
            ])
    }
}

extension JSON {
    /// The same, with the keys of every object sorted.
    fileprivate var sorted: JSON {
        switch self {
        case .object(let object):
            .object(JSONObject(object.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value.sorted) }))
        case .array(let elements): .array(elements.map(\.sorted))
        case .null, .bool, .integer, .number, .string: self
        }
    }

    /// - Parameter keys: The allowed keys; `nil` for any.
    func requireObject(at path: [String], keys: [String]?) throws(ConfigurationProblem) -> JSONObject {
        guard let object else { throw ConfigurationProblem(path: path, found: kindForPeople, expected: "an object") }
        guard let keys else { return object }
        for key in object.keys where !keys.contains(key) {
            throw ConfigurationProblem(
                path: path + [key], found: "an unknown key", expected: "one of \(keys.joined(separator: ", "))",
                suggestion: ConfigurationProblem.nearest(to: key, in: keys))
        }
        return object
    }
}
