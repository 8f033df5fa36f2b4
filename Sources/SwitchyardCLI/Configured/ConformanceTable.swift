import Switchyard
import SwitchyardConformance
import SwitchyardSupabase

/// The table whose rows the storage checks write, in a Supabase project that is configured with tables alone.
struct ConformanceTable {
    /// Creates the table that ``own`` maps.
    static let sql = """
        -- The table for “switchyard conformance”. Every signed-in user may use it: drop it after the run.
        create table public.switchyard_conformance (
          parent text not null, id text not null, text text, number int8, ratio float8, flag bool, moment timestamptz,
          blob bytea, link jsonb, place jsonb, tags text[], vector jsonb, info jsonb, primary key (parent, id));
        alter table public.switchyard_conformance enable row level security;
        create policy everybody on public.switchyard_conformance to authenticated using (true) with check (true);
        grant select, insert, update, delete on public.switchyard_conformance to authenticated;
        notify pgrst, 'reload schema';
        """

    private static let own: SupabaseTableMapping = {
        var mapping = SupabaseTableMapping(
            collection: "conformance/{parent}/items", table: "switchyard_conformance",
            columns: StorageField.allCases.map(\.rawValue))
        mapping.columnTypes = [
            "parent": .text, "id": .text, "text": .text, "number": .int8, "ratio": .float8, "flag": .bool,
            "moment": .timestamptz, "blob": .bytea, "link": .jsonb, "place": .jsonb, "tags": .array(of: .text),
            "vector": .jsonb, "info": .jsonb,
        ]
        return mapping
    }()

    /// The settings of a project with the table in them.
    let settings: SupabaseConfiguration
    private let mapping: SupabaseTableMapping

    /// Takes the table that the settings map to `conformance/{…}/items`, or adds one.
    ///
    /// - Returns: `nil` for a project with a document table, which needs none.
    /// - Throws: `.invalidConfiguration` for a mapping without the fields that every check uses.
    init?(_ settings: SupabaseConfiguration) throws(InfrastructureError) {
        guard !settings.usesDocumentTable else { return nil }
        var settings = settings
        if let mapping = settings.tables.first(where: { Self.isForChecks($0.collection) }) {
            guard let missing = ["number", "text"].first(where: { mapping.fields[$0] == nil }) else {
                (self.settings, self.mapping) = (settings, mapping)
                return
            }
            throw InfrastructureError(
                .invalidConfiguration,
                "The mapping of “\(mapping.collection)” to the table “\(mapping.table)” has no field “\(missing)”, which the "
                    + "checks use. Add it, or remove the mapping to use the table that “switchyard conformance --sql” prints."
            )
        }
        settings.tables.append(Self.own)
        (self.settings, mapping) = (settings, Self.own)
    }

    private static func isForChecks(_ collection: String) -> Bool {
        let parts = collection.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "conformance" && parts[1].hasPrefix("{") && parts[2] == "items"
    }

    /// The fields that have a column.
    var fields: Set<StorageField> { Set(StorageField.allCases.filter { mapping.fields[$0.rawValue] != nil }) }

    /// Checks that the table can be read.
    ///
    /// - Throws: `.invalidConfiguration`, with the statements that create the table.
    func check(_ storage: any StorageClient) async throws(InfrastructureError) {
        do throws(StorageError) {
            _ = try await storage.document("conformance/probe/items/probe", from: .server)
        } catch {
            let remedy = mapping == Self.own ? " Create the table:\n\n\(Self.sql)" : ""
            throw InfrastructureError(
                .invalidConfiguration,
                "The storage checks use the table “\(mapping.schema).\(mapping.table)”, which cannot be read: "
                    + "\(error.message)\(remedy)", underlying: error)
        }
    }
}
