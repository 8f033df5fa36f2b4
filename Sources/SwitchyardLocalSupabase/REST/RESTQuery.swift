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
