/// The steps of typed queries. A property that stands for no field is a mistake of the query.
extension DocumentConverter {
    func comparison(
        _ property: PartialKeyPath<Value>, _ operation: Filter.Operator, _ operand: any Encodable
    ) throws(StorageError) -> Filter {
        let field = try field(property)
        let operand = try self.operand(operand)
        return .comparison(field, operation, field.isDocumentID ? operand.digitsOfNumbers : operand)
    }

    func filters(_ conditions: [QueryCondition<Value>]) throws(StorageError) -> [Filter] {
        var filters: [Filter] = []
        for condition in conditions { filters.append(try condition.filter(by: self)) }
        return filters
    }

    func narrowing(_ query: Query, to condition: QueryCondition<Value>) -> Query {
        stepping(query) { query throws(StorageError) in query.where(try condition.filter(by: self)) }
    }

    func comparing(
        _ query: Query, _ property: PartialKeyPath<Value>, _ operation: Filter.Operator, _ operand: any Encodable
    ) -> Query {
        stepping(query) { query throws(StorageError) in query.where(try comparison(property, operation, operand)) }
    }

    func testing(_ query: Query, _ property: PartialKeyPath<Value>, _ test: Filter.Test) -> Query {
        stepping(query) { query throws(StorageError) in query.where(try field(property), test) }
    }

    func ordering(_ query: Query, by property: PartialKeyPath<Value>, _ direction: Query.Direction) -> Query {
        stepping(query) { query throws(StorageError) in query.ordered(by: try field(property), direction) }
    }

    private func stepping(_ query: Query, _ step: (Query) throws(StorageError) -> Query) -> Query {
        do throws(StorageError) {
            return try step(query)
        } catch {
            return query.failing(error)
        }
    }
}

extension DocumentValue {
    /// Names are text: a number stands for its digits, also in an array.
    fileprivate var digitsOfNumbers: DocumentValue {
        switch self {
        case .integer(let number): .string(String(number))
        case .array(let elements): .array(elements.map(\.digitsOfNumbers))
        default: self
        }
    }
}
