import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// The service's description of the tables that its reader may use.
///
/// Hosted projects return it to secret keys only. Without it, the mapping alone gives the types.
struct RowDescription: Sendable {
    struct Table: Sendable {
        let name: String
        var types: [String: SupabaseColumnType] = [:]
        var primaryKey: Set<String> = []

        /// - Throws: `.failedPrecondition` if the mapping names a missing column. Writes stay queued.
        func check(_ table: MappedTable) throws(StorageError) {
            guard let missing = table.columns.subtracting(types.keys).min() else { return }
            let near = nearestName(to: missing, in: Array(types.keys)).map { " Did you mean “\($0)”?" } ?? ""
            throw StorageError(
                .failedPrecondition,
                "The table “\(name)” has no column “\(missing)”, which the mapping of “\(table.mapping.collection)” names.\(near)",
                isRetryable: false, isRefusal: false)
        }

        /// The columns of an upsert's conflict; `nil` if they are not known.
        func keys(of table: MappedTable) -> [String]? {
            let all = table.parentColumns + [table.mapping.idColumn]
            guard primaryKey.contains(table.mapping.idColumn), primaryKey.isSubset(of: all) else { return nil }
            return all.filter { primaryKey.contains($0) }
        }
    }

    private(set) var tables: [String: Table] = [:]

    static func fetch(_ schema: String, _ service: PostgRESTService) async throws(StorageError) -> RowDescription {
        var request = HTTPRequest(.get, "\(service.project.rest)/", isIdempotent: true)
        request.headers["Accept"] = "application/openapi+json"
        request.headers["Accept-Profile"] = schema
        do throws(StorageError) {
            return RowDescription(try await service.patient.send(request).body)
        } catch {
            // Without access to the description, the client does without.
            guard let failure = error.underlying as? PostgRESTFailure, !failure.isPassing, !failure.isAboutToken else {
                throw error
            }
            return RowDescription()
        }
    }

    private init() {}

    init(_ body: [UInt8]) {
        guard let definitions = (try? JSON(parsing: body))?["definitions"]?.object else { return }
        for definition in definitions.members {
            var table = Table(name: definition.key)
            for property in definition.value["properties"]?.object?.members ?? [] {
                guard let format = property.value["format"]?.string else { continue }
                table.types[property.key] = SupabaseColumnType(rawValue: format)
                if property.value["description"]?.string?.includes("<pk/>") == true {
                    table.primaryKey.insert(property.key)
                }
            }
            tables[definition.key] = table
        }
    }
}
