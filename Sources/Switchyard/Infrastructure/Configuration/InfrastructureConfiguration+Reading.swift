public import Foundation
import SwitchyardBytes

/// Reading from text, a file, the environment or any decoder, and writing.
extension InfrastructureConfiguration {
    /// - Throws: `.invalidConfiguration` for text that is not JSON, unknown keys, wrong types or unknown services.
    public init(
        json: Data, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(InfrastructureError) {
        try self.init(json: json, called: "The configuration", environment: environment)
    }

    private init(json: Data, called name: String, environment: [String: String]) throws(InfrastructureError) {
        guard json.count <= InfrastructureConfiguration.maximumBytes else { throw .tooLarge(json.count) }
        let value: JSON
        do throws(JSONError) {
            value = try JSON(parsing: json)
        } catch {
            throw InfrastructureError(
                .invalidConfiguration,
                "\(name) is not valid JSON \(json.place(of: error.offset)): \(error.reason.rawValue).",
                underlying: error)
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
            guard size <= InfrastructureConfiguration.maximumBytes else { throw InfrastructureError.tooLarge(size) }
            data = try Data(contentsOf: file)
        } catch let error as InfrastructureError {
            throw error
        } catch {
            let isThere = FileManager.default.fileExists(atPath: file.path)
            throw InfrastructureError(
                .localStore,
                isThere
                    ? "The configuration file “\(file.path)” cannot be read; is it a file, and may you read it?"
                    : "There is no configuration file “\(file.path)”. Check the path, which is relative to the working directory.",
                underlying: error)
        }
        try self.init(json: data, called: "The configuration file “\(file.path)”", environment: environment)
    }

    /// From environment variables only: `SWITCHYARD_DEFAULT`, `SWITCHYARD_STORAGE` and so on for the clients,
    /// `SWITCHYARD_STATE_FOLDER`, `SWITCHYARD_RETRY` as JSON, and `SWITCHYARD_<PROVIDER>` with a provider's settings as JSON.
    ///
    /// - Throws: `.invalidConfiguration` without `SWITCHYARD_DEFAULT`, and for variables whose name nearly matches one of
    ///   these.
    public init(environment: [String: String]) throws(InfrastructureError) {
        do throws(ConfigurationProblem) {
            try self.init(variables: environment)
        } catch {
            throw error.error
        }
    }

    private init(variables environment: [String: String]) throws(ConfigurationProblem) {
        let prefix = Self.prefix
        guard let `default` = environment[prefix + "DEFAULT"], !`default`.isEmpty else {
            throw Self.missingDefault(in: environment)
        }
        self.init(
            InfrastructureSelection(default: InfrastructureProvider(rawValue: `default`)), environment: environment)
        isFromVariables = true
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(prefix) {
            let rest = String(name.dropFirst(prefix.count))
            let service = InfrastructureService.allCases.first { $0.rawValue.uppercased() == rest.filter { $0 != "_" } }
            if let service {
                try choose(value, for: service, at: [name])
                continue
            }
            switch rest {
            case "DEFAULT": continue
            case "STATE_FOLDER": stateFolder = try Self.folder(value, at: [name])
            case "LOCAL_FILES": localFiles = try fileOptions(try Self.json(value, at: [name]), at: [name])
            case "RETRY": retry = try retryPolicy(try Self.json(value, at: [name]), at: [name])
            default:
                if let object = try Self.settings(value, at: name) {
                    settings[InfrastructureProvider(rawValue: rest.lowercased())] = object
                }
            }
        }
        // The variable of a provider that is used belongs to no other program.
        for provider in [selection.default] + InfrastructureService.allCases.compactMap({ selection[$0] }) {
            let name = prefix + provider.rawValue.uppercased()
            guard settings[provider] == nil, let value = environment[name] else { continue }
            _ = try Self.json(value, at: [name]).requireObject(at: [name], keys: nil)
        }
    }

    private static let prefix = "SWITCHYARD_"

    private static func missingDefault(in environment: [String: String]) -> ConfigurationProblem {
        let name = prefix + "DEFAULT"
        let others = environment.keys.filter { $0.hasPrefix(prefix) && $0 != name }.map { $0.dropFirst(prefix.count) }
        guard let similar = ConfigurationProblem.nearest(to: "DEFAULT", in: others.map(String.init)) else {
            return ConfigurationProblem(path: [name], found: "nothing", expected: "the name of a provider")
        }
        return ConfigurationProblem(
            path: [prefix + similar], found: "an unknown variable", expected: "\(name), the name of a provider",
            suggestion: name)
    }

    /// A provider's settings.
    ///
    /// - Returns: `nil` for a variable of another program, which may have the same prefix.
    private static func settings(_ value: String, at name: String) throws(ConfigurationProblem) -> JSONObject? {
        if value.hasPrefix("{") { return try json(value, at: [name]).object }
        if value.utf8.count <= maximumBytes, let json = try? JSON(parsing: value), let object = json.object {
            return object
        }
        let known =
            ["DEFAULT", "STATE_FOLDER", "LOCAL_FILES", "RETRY"] + InfrastructureService.allCases.map(\.variable)
        let rest = String(name.dropFirst(prefix.count))
        guard let nearest = ConfigurationProblem.nearest(to: rest, in: known) else { return nil }
        throw ConfigurationProblem(
            path: [name], found: "text that is not a JSON object",
            expected: "a provider's settings as JSON, or one of \(known.map { prefix + $0 }.joined(separator: ", "))",
            suggestion: prefix + nearest)
    }

    /// The JSON in a variable.
    private static func json(_ value: String, at path: [String]) throws(ConfigurationProblem) -> JSON {
        let data = Data(value.utf8)
        guard data.count <= maximumBytes else {
            throw ConfigurationProblem(
                path: path, found: "\(data.count) bytes", expected: "at most \(maximumBytes)")
        }
        do throws(JSONError) {
            return try JSON(parsing: data)
        } catch {
            throw ConfigurationProblem(
                path: path,
                found: "text that is not valid JSON \(data.place(of: error.offset)) (\(error.reason.rawValue))",
                expected: "a JSON object", underlying: error)
        }
    }

    /// As the contents of a file, with every `${NAME}` preserved.
    public func json() -> Data { Data(shape.bytes(JSONWritingOptions(isPretty: true))) }
}

extension InfrastructureConfiguration: Codable {
    /// - Throws: An ``InfrastructureError`` with any decoder; its paths begin with the decoder's own.
    public init(from decoder: any Decoder) throws {
        let shape = try JSON(from: decoder)
        let environment = decoder.userInfo[Secret.environmentKey] as? [String: String]
        do throws(ConfigurationProblem) {
            try self.init(shape, environment: environment ?? ProcessInfo.processInfo.environment)
        } catch {
            var problem = error
            problem.path = decoder.codingPath.map(\.stringValue) + problem.path
            throw problem.error
        }
    }

    public func encode(to encoder: any Encoder) throws { try shape.encode(to: encoder) }
}

extension Data {
    /// Line and column, as an editor shows them.
    fileprivate func place(of offset: Int) -> String {
        let before = prefix(offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
        return "at line \(line), column \(column)"
    }
}

extension InfrastructureError {
    fileprivate static func tooLarge(_ bytes: Int) -> InfrastructureError {
        InfrastructureError(
            .invalidConfiguration,
            "A configuration has at most \(InfrastructureConfiguration.maximumBytes) bytes, this one has \(bytes).")
    }
}
