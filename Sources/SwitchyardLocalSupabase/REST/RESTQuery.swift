import SwitchyardBytes
import SwitchyardServerKit

/// What a request asks of rows, with the relationships that its embeddings mean.
struct RESTQuery: Sendable {
    /// The conditions on the rows themselves.
    let filters: [RESTFilter]
    /// With the conditions on embedded rows.
    let selection: RESTSelection
    let joins: [RESTJoin]
}

extension LocalREST {
    /// - Parameters:
    ///   - parameters: Those that are conditions.
    ///   - origin: The name of the table, or of a function that returns rows of no table.
    ///   - alias: The alias of the rows in the statement.
    func query(
        _ call: RESTCall, _ parameters: [(name: String, value: String)], of origin: String, as alias: String
    ) async throws(RESTFailure) -> RESTQuery {
        var filters: [RESTFilter] = []
        var selection = call.selection
        for (name, value) in parameters {
            let (path, rest) = try RESTEmbedding.path(of: name)
            let filter = try RESTFilter(name: rest, value: value)
            if path.isEmpty {
                filters.append(filter)
            } else {
                try selection.change(path) { $0.filters.append(filter) }
            }
        }
        guard !selection.embeddings.isEmpty else {
            return RESTQuery(filters: filters, selection: selection, joins: [])
        }
        let joins = try await relations().joins(selection.embeddings, of: origin, in: call.schema, within: [alias])
        return RESTQuery(filters: filters, selection: selection, joins: joins)
    }

    private func relations() async throws(RESTFailure) -> RESTRelations {
        do throws(PostgresFailure) {
            return try await knownRelations.relations(of: schemas, in: database)
        } catch {
            throw RESTFailure(error, isAnonymous: false)
        }
    }
}

/// The preferences of a request; the answer lists those that were applied.
struct RESTPreferences: Hashable, Sendable {
    enum Returning: String {
        case minimal, representation
        case headersOnly = "headers-only"
    }
    enum Counting: String {
        case exact, planned, estimated
    }
    enum Resolution: String {
        case mergeDuplicates = "merge-duplicates"
        case ignoreDuplicates = "ignore-duplicates"
    }

    private(set) var returning: Returning?
    private(set) var counting: Counting?
    private(set) var resolution: Resolution?
    private(set) var takesDefaults = false
    private(set) var maximumAffected: Int?
    private(set) var timeZone: String?
    private(set) var applied: [String] = []

    /// - Throws: For an unknown preference, if handling is strict.
    init(_ fields: [String]) throws(RESTFailure) {
        var unknown: [String] = []
        var isStrict = false
        var limit: Int?
        for text in fields.flatMap({ $0.split(separator: ",") }) {
            let preference = text.filter { $0 != " " }
            let parts = preference.split(separator: "=", maxSplits: 1).map(String.init)
            let (name, value) = (parts.first ?? "", parts.count > 1 ? parts[1] : "")
            var isKnown = true
            switch name {
            case "return": returning = Returning(rawValue: value) ?? returning
            case "count": counting = Counting(rawValue: value) ?? counting
            case "resolution": resolution = Resolution(rawValue: value) ?? resolution
            case "missing": takesDefaults = value == "default"
            case "handling": isStrict = value == "strict"
            case "max-affected": limit = Int(value)
            case "timezone": timeZone = value
            // As with the vendor, requesting a rollback is not allowed.
            case "tx", "params": isKnown = name == "params"
            default:
                isKnown = false
                unknown.append(preference)
            }
            if isKnown { applied.append(preference) }
        }
        guard !isStrict || unknown.isEmpty else {
            var failure = RESTFailure(400, "PGRST122", "Invalid preferences given with handling=strict")
            failure.details = .string("Invalid preferences: " + unknown.joined(separator: ", "))
            throw failure
        }
        if isStrict { maximumAffected = limit } else { applied.removeAll { $0.hasPrefix("max-affected") } }
    }
}
