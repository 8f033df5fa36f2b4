import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Sums and averages: computed by the service if it allows that, otherwise over the rows, with the same results.
extension RowReader {
    func aggregate(
        _ query: Query, in place: TableMappings.Place, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        if let values = try await aggregateThere(query, in: place, aggregations) { return values }
        var query = query
        query.projection = aggregations.compactMap(\.field)
        let documents = try await results(of: query, in: place).documents
        let shape = try await catalog.shape(of: place.table, service)
        return aggregations.map { aggregation in
            guard let field = aggregation.field, shape.total(of: field) == .exact else {
                return AggregateEvaluator.values(of: [aggregation], over: documents)[0]
            }
            var total = RowTotal()
            for document in documents { total.add(document[field]) }
            return total.value(of: aggregation)
        }
    }

    /// By the service.
    ///
    /// - Returns: `nil` if the service cannot, or would give another result.
    private func aggregateThere(
        _ query: Query, in place: TableMappings.Place, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue]? {
        guard catalog.mayAggregate, query.limit == nil, query.offset == 0 else { return nil }
        do throws(StorageError) {
            return try await knowing(place.table) { (shape) throws(StorageError) -> [DocumentValue]? in
                let plan = TableQuery(query, in: place, shape)
                guard plan.isWhole else { return nil }
                var items: [String] = []
                for (index, aggregation) in aggregations.enumerated() {
                    guard let field = aggregation.field else {
                        items.append("n\(index):count()")
                        continue
                    }
                    guard shape.total(of: field) != nil, let column = shape.column(of: field.components[0]) else {
                        return nil
                    }
                    let name = ColumnName.text(column.name)
                    items += ["s\(index):\(name).sum()::text", "n\(index):\(name).count()"]
                }
                guard let conditions = plan.conditions else {
                    return aggregations.map { RowTotal().value(of: $0) }
                }
                let response = try await service.send(
                    request(
                        .get, shape,
                        RowCondition.parameters(conditions) + [("select", items.joined(separator: ","))]), as: reader)
                guard let row = try rows(in: response, of: shape).first else { throw .unreadableAnswer }
                var values: [DocumentValue] = []
                for (index, aggregation) in aggregations.enumerated() {
                    guard let count = row["n\(index)"]?.int else { throw .unreadableAnswer }
                    guard let field = aggregation.field else {
                        values.append(.integer(Int64(count)))
                        continue
                    }
                    let text = row["s\(index)"]?.string ?? "0"
                    guard let total = RowTotal(text, of: count, isWhole: shape.total(of: field) == .whole) else {
                        throw .unreadableAnswer
                    }
                    values.append(total.value(of: aggregation))
                }
                return values
            }
        } catch {
            guard (error.underlying as? PostgRESTFailure)?.code == "PGRST123" else { throw error }
            catalog.noteRefusedAggregates()
            return nil
        }
    }
}

/// The sum of a column's values, and how many there are.
struct RowTotal {
    private var count = 0
    private var sum = Decimal.zero
    /// The sum, if it is not a decimal or has too many digits for one.
    private var rough: Double?
    private var isWhole = false

    init() {}

    /// - Returns: `nil` if the text is not a number.
    init?(_ text: String, of count: Int, isWhole: Bool) {
        self.count = count
        self.isWhole = isWhole
        guard let number = Double(text) else { return nil }
        if let exact = Decimal(string: text), number.isFinite { sum = exact } else { rough = number }
    }

    /// Adds a value of a `numeric` column, as it is in documents.
    mutating func add(_ value: DocumentValue?) {
        let text: String
        switch value {
        case .double(let number) where number.isFinite: text = number.description
        case .double(let number):
            count += 1
            rough = (rough ?? 0) + number
            return
        case .string(let string): text = string
        default: return
        }
        guard let number = Decimal(string: text) else { return }
        count += 1
        sum += number
    }

    private var double: Double { rough ?? Double(sum.description) ?? .nan }

    func value(of aggregation: Aggregation) -> DocumentValue {
        switch aggregation {
        case .count: return .integer(Int64(count))
        case .average: return count == 0 ? .null : .double(double / Double(count))
        case .sum:
            if count == 0 { return .integer(0) }
            if isWhole, rough == nil, let whole = Int64(sum.description) { return .integer(whole) }
            return .double(double)
        }
    }
}

extension RowShape {
    /// How the values of a column add up to the same sum here and in the database.
    enum Total {
        case whole
        /// Decimal numbers.
        case exact
    }

    /// - Returns: `nil` if they may not: floating-point sums depend on the order of the rows.
    func total(of field: FieldPath) -> Total? {
        guard field.components.count == 1, let column = column(of: field.components[0]) else { return nil }
        return switch column.kind {
        case .integer: .whole
        case .numeric: .exact
        default: nil
        }
    }
}

extension Aggregation {
    /// The field whose values it needs.
    fileprivate var field: FieldPath? {
        switch self {
        case .count: nil
        case .sum(let field), .average(let field): field
        }
    }
}
