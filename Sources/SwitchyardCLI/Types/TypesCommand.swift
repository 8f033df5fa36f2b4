import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSupabase
import SwitchyardWire

/// `switchyard types`
struct TypesCommand: BackendCommand {
    enum Source: String, CaseIterable { case supabase, firebase }

    let name = "types"
    let backend: BackendOptions
    private let source: Source
    private let collections: [CollectionPath]
    private let sample: Int
    private let isPublic: Bool
    private let output: String?

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("types"))
        backend = BackendOptions(given)
        let names = Source.allCases.map(\.rawValue)
        guard let name = given["--from"] else {
            throw UsageError("“types” needs “--from”: \(names.joined(separator: " or "))")
        }
        guard let source = Source(rawValue: name) else { throw UsageError.unknown("source", name, among: names) }
        self.source = source
        var collections: [CollectionPath] = []
        for name in given.arguments {
            do throws(StorageError) { collections.append(try CollectionPath(validating: name)) } catch {
                throw UsageError(error.message)
            }
        }
        self.collections = collections
        guard source == .supabase || !collections.isEmpty else {
            throw UsageError("“types --from firebase” needs the COLLECTIONs to sample")
        }
        sample = try given.number("--sample") ?? 100
        isPublic = given.has("--public")
        output = given["--output"]
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        if let output, let problem = ReportFile.problem(of: output) { throw CommandFailure(problem) }
        let types = source == .supabase ? try await tableTypes() : try await sampledTypes(backend)
        let arguments = collections.isEmpty ? "" : " " + collections.map(\.rawValue).joined(separator: " ")
        let writer = SwiftWriter(isPublic: isPublic, source: "types --from \(source.rawValue)\(arguments)")
        let text = writer.file(Self.distinct(types))
        guard let output else {
            Terminal.print(String(text.dropLast()))
            return .success
        }
        if let problem = ReportFile.write(text, to: output) { throw CommandFailure(problem) }
        Terminal.print("Wrote \(output): \(types.map(\.name).joined(separator: ", ")).")
        return .success
    }

    private static func distinct(_ types: [SwiftStruct]) -> [SwiftStruct] {
        zip(types, SwiftName.distinct(types.map(\.name))).map { type, name in
            var type = type
            type.name = name
            return type
        }
    }

    // MARK: Tables

    private func tableTypes() async throws -> [SwiftStruct] {
        guard let settings = try backend.configuration().settings(of: SupabaseModule.self), !settings.tables.isEmpty
        else {
            throw CommandFailure("the configuration maps no tables of a Supabase project", .usage)
        }
        let names = settings.tables.map(\.collection)
        var tables = settings.tables
        if !collections.isEmpty {
            if let wrong = collections.map(\.rawValue).first(where: { !names.contains($0) }) {
                throw CommandFailure(UsageError.unknown("mapped collection", wrong, among: names).message, .usage)
            }
            tables = tables.filter { table in collections.contains { $0.rawValue == table.collection } }
        }
        let transport = PlatformTransport.make()
        var definitions: [String: JSONObject?] = [:]
        do throws(TransportError) {
            for schema in Set(tables.map(\.schema)) {
                definitions[schema] = try await description(of: schema, settings, transport)
            }
        } catch {
            await transport.shutDown()
            throw CommandFailure(error.message)
        }
        await transport.shutDown()
        let result = TableTypes.types(of: tables, definitions)
        for remark in result.remarks { report(remark) }
        return result.types
    }

    private func description(
        of schema: String, _ settings: SupabaseConfiguration, _ transport: any Transport
    ) async throws(TransportError) -> JSONObject? {
        let web = WebProbe(transport, DoctorOptions())
        let probe = SupabaseProbe(settings, web, DoctorOptions(), Findings())
        var headers = probe.headers
        headers["Accept"] = "application/openapi+json"
        headers["Accept-Profile"] = schema
        let answer = try await web.send(.get, "\(probe.url)/rest/v1/", headers)
        return answer.status == 200 ? answer.json["definitions"]?.object : nil
    }

    // MARK: Samples

    private func sampledTypes(_ backend: OpenBackend) async throws -> [SwiftStruct] {
        var types: [SwiftStruct] = []
        for collection in collections {
            let query = Query(in: collection).limited(to: sample)
            var documents: [DocumentData] = []
            for try await page in backend.storage.pages(of: query, size: min(sample, 300), from: backend.source) {
                documents += page.documents.compactMap(\.data)
            }
            guard !documents.isEmpty else {
                throw CommandFailure("“\(collection)” has no documents to sample, or none that may be read")
            }
            types.append(SampledTypes.type(of: collection.rawValue, documents))
        }
        return types
    }
}
