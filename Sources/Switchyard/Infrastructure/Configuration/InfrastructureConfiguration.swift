public import Foundation
import SwitchyardBytes

/// Which providers there are, how they are set up, and who stands behind which client: in code, in a JSON file, or in the
/// environment.
///
/// ```json
/// {
///   "default": "acme",
///   "clients": { "storage": "globex", "messaging": "none" },
///   "providers": {
///     "acme": { "project": "demo", "apiKey": "${ACME_API_KEY}" },
///     "globex": { "url": "https://demo.globex.example", "anonKey": "${GLOBEX_ANON_KEY}" }
///   },
///   "stateFolder": "/var/lib/demo"
/// }
/// ```
///
/// Settings here take precedence over those of a module that was configured in code. Text of the form `${NAME}` stands
/// for a variable of the environment. Every mistake is one error that says where, what was found and what was expected.
public struct InfrastructureConfiguration: Sendable {
    public var selection: InfrastructureSelection
    /// A folder for what must outlast the process: one below it for each provider. `nil` keeps everything in memory.
    public var stateFolder: URL?
    /// Where `${NAME}` is looked up.
    public var environment: [String: String]
    /// What the file says about each provider.
    var settings: [InfrastructureProvider: JSONObject] = [:]

    /// A configuration file has at most this many bytes.
    public static let maximumBytes = 1 << 20
    /// The name that, instead of a provider's, means that there shall be no client.
    static let nobody = "none"

    public init(_ selection: InfrastructureSelection, stateFolder: URL? = nil, environment: [String: String] = [:]) {
        self.selection = selection
        self.stateFolder = stateFolder
        self.environment = environment
    }

    /// - Throws: `.invalidConfiguration` for text that is no JSON, unknown keys, wrong types or unknown services.
    public init(
        json: Data, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(InfrastructureError) {
        guard json.count <= InfrastructureConfiguration.maximumBytes else {
            throw InfrastructureError(
                .invalidConfiguration,
                "A configuration has at most \(InfrastructureConfiguration.maximumBytes) bytes, this one has \(json.count)."
            )
        }
        let value: JSON
        do throws(JSONError) {
            value = try JSON(parsing: json)
        } catch {
            throw InfrastructureError(
                .invalidConfiguration, "The configuration is no JSON: \(error.description)", underlying: error)
        }
        do throws(ConfigurationProblem) {
            try self.init(value, environment: environment)
        } catch {
            throw error.error
        }
    }

    /// - Throws: `.localStore` if the file cannot be read; else as ``init(json:environment:)``.
    public init(
        contentsOf file: URL, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(InfrastructureError) {
        let data: Data
        do {
            let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
            guard size <= InfrastructureConfiguration.maximumBytes else {
                throw InfrastructureError(
                    .invalidConfiguration,
                    "A configuration has at most \(InfrastructureConfiguration.maximumBytes) bytes, this one has \(size)."
                )
            }
            data = try Data(contentsOf: file)
        } catch let error as InfrastructureError {
            throw error
        } catch {
            throw InfrastructureError(
                .localStore, "The configuration file “\(file.path)” cannot be read.", underlying: error)
        }
        try self.init(json: data, environment: environment)
    }

    private init(_ json: JSON, environment: [String: String]) throws(ConfigurationProblem) {
        let top = try json.requireObject(at: [], keys: ["default", "clients", "providers", "stateFolder"])
        guard let `default` = top["default"] else {
            throw ConfigurationProblem(path: ["default"], found: "nothing", expected: "the name of a provider")
        }
        selection = InfrastructureSelection(
            default: InfrastructureProvider(rawValue: try `default`.requireString(at: ["default"], environment)))
        self.environment = environment
        if let clients = top["clients"] {
            let names = InfrastructureService.allCases.map(\.rawValue)
            for member in try clients.requireObject(at: ["clients"], keys: names) {
                let provider = try member.value.requireString(at: ["clients", member.key], environment)
                try choose(provider, for: InfrastructureService(rawValue: member.key)!, at: ["clients", member.key])
            }
        }
        if let providers = top["providers"] {
            for member in try providers.requireObject(at: ["providers"], keys: nil) {
                settings[InfrastructureProvider(rawValue: member.key)] =
                    try member.value.requireObject(at: ["providers", member.key], keys: nil)
            }
        }
        if let folder = top["stateFolder"], !folder.isNull {
            stateFolder = URL(
                fileURLWithPath: try folder.requireString(at: ["stateFolder"], environment), isDirectory: true)
        }
    }

    /// From variables alone: `SWITCHYARD_DEFAULT`, `SWITCHYARD_STORAGE` and so on for the clients, `SWITCHYARD_STATE_FOLDER`, and
    /// `SWITCHYARD_<PROVIDER>` with a provider's settings as JSON.
    ///
    /// - Throws: `.invalidConfiguration` without `SWITCHYARD_DEFAULT`, and for unknown variables that begin like ours.
    public init(environment: [String: String]) throws(InfrastructureError) {
        do throws(ConfigurationProblem) {
            try self.init(variables: environment)
        } catch {
            throw error.error
        }
    }

    private init(variables environment: [String: String]) throws(ConfigurationProblem) {
        let prefix = "SWITCHYARD_"
        guard let `default` = environment[prefix + "DEFAULT"] else {
            throw ConfigurationProblem(path: [prefix + "DEFAULT"], found: "nothing", expected: "the name of a provider")
        }
        self.init(
            InfrastructureSelection(default: InfrastructureProvider(rawValue: `default`)), environment: environment)
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(prefix) {
            let rest = String(name.dropFirst(prefix.count))
            let service = InfrastructureService.allCases.first { $0.rawValue.uppercased() == rest.filter { $0 != "_" } }
            switch rest {
            case "DEFAULT": continue
            case "STATE_FOLDER": stateFolder = URL(fileURLWithPath: value, isDirectory: true)
            case _ where service != nil: try choose(value, for: service!, at: [name])
            default:
                guard let json = try? JSON(parsing: value), let object = json.object else {
                    let known =
                        ["DEFAULT", "STATE_FOLDER"] + InfrastructureService.allCases.map { $0.rawValue.uppercased() }
                    throw ConfigurationProblem(
                        path: [name], found: "text that is no JSON object",
                        expected:
                            "a provider's settings as JSON, or one of \(known.map { prefix + $0 }.joined(separator: ", "))",
                        suggestion: ConfigurationProblem.nearest(to: rest, in: known).map { prefix + $0 })
                }
                settings[InfrastructureProvider(rawValue: rest.lowercased())] = object
            }
        }
    }

    private mutating func choose(
        _ provider: String, for service: InfrastructureService, at path: [String]
    ) throws(ConfigurationProblem) {
        guard provider == InfrastructureConfiguration.nobody else {
            selection[service] = InfrastructureProvider(rawValue: provider)
            return
        }
        guard service == .files || service == .messaging else {
            throw ConfigurationProblem(
                path: path, found: "“none”", expected: "a provider: only files and messaging can be left out")
        }
        selection.omit(service)
    }

    /// The file again, with every `${NAME}` as it stood.
    public func json() -> Data {
        var clients = JSONObject()
        for service in InfrastructureService.allCases {
            if let provider = selection[service] { clients[service.rawValue] = .string(provider.rawValue) }
            if selection.omitted.contains(service) {
                clients[service.rawValue] = .string(InfrastructureConfiguration.nobody)
            }
        }
        var providers = JSONObject()
        for (provider, object) in settings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            providers[provider.rawValue] = .object(object)
        }
        var top: JSONObject = ["default": .string(selection.default.rawValue)]
        if !clients.isEmpty { top["clients"] = .object(clients) }
        if !providers.isEmpty { top["providers"] = .object(providers) }
        if let stateFolder { top["stateFolder"] = .string(stateFolder.path) }
        return Data(JSON.object(top).bytes(JSONWritingOptions(isPretty: true)))
    }
}

extension JSON {
    fileprivate func requireObject(at path: [String], keys: [String]?) throws(ConfigurationProblem) -> JSONObject {
        guard let object else { throw ConfigurationProblem(path: path, found: kindForPeople, expected: "an object") }
        for key in object.keys where keys != nil && !keys!.contains(key) {
            throw ConfigurationProblem(
                path: path + [key], found: "an unknown key", expected: "one of \(keys!.joined(separator: ", "))",
                suggestion: ConfigurationProblem.nearest(to: key, in: keys!))
        }
        return object
    }

    fileprivate func requireString(
        at path: [String], _ environment: [String: String]
    ) throws(ConfigurationProblem) -> String {
        guard let string else { throw ConfigurationProblem(path: path, found: kindForPeople, expected: "a string") }
        guard string.hasPrefix("${"), string.hasSuffix("}") else { return string }
        let name = String(string.dropFirst(2).dropLast())
        guard let value = environment[name] else {
            throw ConfigurationProblem(
                path: path, found: "“${\(name)}”", expected: "a variable that is set; \(name) is not")
        }
        return value
    }
}
