import Switchyard

/// Queries and targets in records. Operators are stored by name; the names are public API and never change.
extension RecordWriter {
    mutating func write(_ target: WatchTarget) {
        switch target {
        case .document(let path):
            write(byte: 0)
            write(path)
        case .query(let query):
            write(byte: 1)
            write(query)
        }
    }

    mutating func write(_ query: Query) {
        switch query.source {
        case .collection(let path):
            write(byte: 0)
            write(path.rawValue)
        case .group(let id, let ancestor):
            write(byte: 1)
            write(id)
            write(ancestor) { $0.write($1) }
        }
        write(query.filter) { $0.write($1) }
        write(query.orders) { writer, order in
            writer.write(order.field)
            writer.write(order.direction == .descending)
        }
        switch query.limit {
        case nil: write(byte: 0)
        case .first(let count):
            write(byte: 1)
            write(count)
        case .last(let count):
            write(byte: 2)
            write(count)
        }
        write(query.offset)
        write(query.start) { $0.write($1) }
        write(query.end) { $0.write($1) }
        write(query.projection) { writer, fields in writer.write(fields) { $0.write($1) } }
    }

    private mutating func write(_ cursor: Query.Cursor) {
        write(cursor.values) { $0.write($1) }
        write(cursor.isInclusive)
    }

    private mutating func write(_ filter: Filter) {
        switch filter {
        case .comparison(let field, let operation, let value):
            write(byte: 0)
            write(field)
            write(operation.rawValue)
            write(value)
        case .test(let field, let test):
            write(byte: 1)
            write(field)
            write(test.rawValue)
        case .all(let filters):
            write(byte: 2)
            write(filters) { $0.write($1) }
        case .any(let filters):
            write(byte: 3)
            write(filters) { $0.write($1) }
        }
    }
}

extension RecordReader {
    mutating func watchTarget() throws(StorageError) -> WatchTarget {
        switch try byte() {
        case 0: .document(try path())
        case 1: .query(try query())
        default: throw RecordReader.damage
        }
    }

    mutating func query() throws(StorageError) -> Query {
        var query: Query
        switch try byte() {
        case 0: query = Query(in: CollectionPath(unchecked: try string()))
        case 1:
            let id = try string()
            query = Query(
                source: .group(id: id, under: try optional { reader throws(StorageError) in try reader.path() }))
        default: throw RecordReader.damage
        }
        query.filter = try optional { reader throws(StorageError) in try reader.filter() }
        query.orders = try array { reader throws(StorageError) in
            let field = try reader.field()
            return Query.Order(field, try reader.bool() ? .descending : .ascending)
        }
        switch try byte() {
        case 0: break
        case 1: query.limit = .first(try int())
        case 2: query.limit = .last(try int())
        default: throw RecordReader.damage
        }
        query.offset = try int()
        query.start = try optional { reader throws(StorageError) in try reader.cursor() }
        query.end = try optional { reader throws(StorageError) in try reader.cursor() }
        query.projection = try optional { reader throws(StorageError) in
            try reader.array { reader throws(StorageError) in try reader.field() }
        }
        return query
    }

    private mutating func cursor() throws(StorageError) -> Query.Cursor {
        let values = try array { reader throws(StorageError) in try reader.value() }
        return Query.Cursor(values: values, isInclusive: try bool())
    }

    private mutating func filter() throws(StorageError) -> Filter {
        try nested { reader throws(StorageError) in
            switch try reader.byte() {
            case 0:
                let field = try reader.field()
                guard let operation = Filter.Operator(rawValue: try reader.string()) else { throw RecordReader.damage }
                return .comparison(field, operation, try reader.value())
            case 1:
                let field = try reader.field()
                guard let test = Filter.Test(rawValue: try reader.string()) else { throw RecordReader.damage }
                return .test(field, test)
            case 2: return .all(try reader.array { reader throws(StorageError) in try reader.filter() })
            case 3: return .any(try reader.array { reader throws(StorageError) in try reader.filter() })
            default: throw RecordReader.damage
            }
        }
    }
}
