import Switchyard
import SwitchyardBytes
import SwitchyardSupabase

/// Types of mapped tables, from the description of them that the REST API gives.
struct TableTypes {
    struct Result {
        var types: [SwiftStruct]
        var remarks: [String] = []
    }

    /// - Parameters:
    ///   - tables: The mapped tables.
    ///   - definitions: What each schema's description says of tables; `nil` where there is none.
    static func types(of tables: [SupabaseTableMapping], _ definitions: [String: JSONObject?]) -> Result {
        var result = Result(types: [])
        for table in tables {
            let described = (definitions[table.schema] ?? nil)?[table.table]
            if described == nil {
                result.remarks.append(
                    "“\(table.sqlName)” is not described to this key: types are those of columnTypes, and everything is optional. "
                        + "Pass a configuration with “serviceKey”.")
            }
            result.types.append(type(of: table, described, &result.remarks))
        }
        return result
    }

    private static func type(
        of table: SupabaseTableMapping, _ described: JSON?, _ remarks: inout [String]
    ) -> SwiftStruct {
        let required = Set((described?["required"]?.array ?? []).compactMap(\.string))
        let columns = described?["properties"]
        let members = table.fields.sorted { $0.key < $1.key }.map { field, column in
            let property = columns?[column]
            if columns != nil, property == nil {
                remarks.append("“\(table.sqlName)” has no column “\(column)”, which “\(field)” names.")
            }
            let type = type(of: field, column, property, in: table)
            return SwiftStruct.Member(
                field: field, type: type, isOptional: !required.contains(column),
                remark: column == field ? nil : "The column `\(column)`.")
        }
        let name = table.collection.split(separator: "/").last.map(String.init) ?? table.table
        return SwiftStruct(
            name: SwiftName.type(SwiftName.singular(name)),
            summary: "A document of `\(table.collection)`: a row of `\(table.sqlName)`.",
            id: idType(table, columns?[table.idColumn]), members: members)
    }

    private static func idType(_ table: SupabaseTableMapping, _ property: JSON?) -> String {
        switch declared(table.idColumn, in: table) ?? plainType(property) {
        case "uuid": isUUID(table.idColumn, in: table) ? "UUID" : "String"
        case "int2", "int4", "int8", "smallint", "integer", "bigint": "Int"
        default: "String"
        }
    }

    private static func declared(_ column: String, in table: SupabaseTableMapping) -> String? {
        table.uuidColumns.contains(column) ? "uuid" : table.columnTypes[column]?.rawValue
    }

    /// Only in declared columns the database's spelling and Swift's are the same.
    private static func isUUID(_ column: String, in table: SupabaseTableMapping) -> Bool {
        declared(column, in: table) == "uuid"
    }

    private static func plainType(_ property: JSON?) -> String? { property?["format"]?.string }

    private static func type(
        of field: String, _ column: String, _ property: JSON?, in table: SupabaseTableMapping
    ) -> SwiftType {
        if table.references[field] != nil { return .named("StoragePath") }
        if let values = property?["enum"]?.array?.compactMap(\.string), !values.isEmpty {
            return .enumeration(SwiftName.type(field), values)
        }
        let type = declared(column, in: table) ?? plainType(property) ?? "text"
        guard type.hasSuffix("[]") else { return scalar(type, isUUID: isUUID(column, in: table)) }
        return .array(scalar(String(type.dropLast(2)), isUUID: false), hasNulls: false)
    }

    private static func scalar(_ type: String, isUUID: Bool) -> SwiftType {
        switch type {
        case "bool", "boolean": .named("Bool")
        case "int2", "int4", "int8", "smallint", "integer", "bigint": .named("Int")
        case "float4", "float8", "real", "double precision": .named("Double")
        case "numeric": .named("Decimal")
        case "timestamp", "timestamptz", "timestamp without time zone", "timestamp with time zone": .named("Timestamp")
        case "bytea": .named("Data")
        case "json", "jsonb": .any
        case "uuid" where isUUID: .named("UUID")
        default: .named("String")
        }
    }
}
