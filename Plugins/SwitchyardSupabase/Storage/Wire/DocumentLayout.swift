import Switchyard
import SwitchyardBytes

/// The fields of documents that have the same ones, as most of a collection have: their names and their order are worked out
/// once. It goes from document to document of an answer.
struct DocumentLayout {
    private let text: IndexedJSON
    private let model: Int
    /// The fields without values, in the order of documents' fields.
    private let fields: [DocumentData.Entry]
    /// Where the object has them among its members.
    private let order: [Int]
    /// Where the object has its values.
    private var places: [Int]

    /// - Parameter object: The fields of one of the documents.
    init(_ text: IndexedJSON, at object: Int) {
        self.text = text
        model = object
        let keys = text.keys(of: object)
        let fields = keys.map { DocumentData.Entry(name: text.string(at: $0), value: .null) }
        let inOrder = DocumentData(unsorted: fields)
        // Without repeated names.
        var order: [Int] = []
        for entry in inOrder.entries { order.append(fields.lastIndex { $0 == entry } ?? 0) }
        self.fields = inOrder.entries
        self.order = order
        places = keys.map { $0 + 1 }
    }

    /// - Returns: `nil` for an object with other fields, which needs a layout of its own.
    mutating func data(at object: Int) -> DocumentData? {
        guard text.findValues(of: object, like: model, in: &places) else { return nil }
        return DocumentData(
            inOrder: [DocumentData.Entry](unsafeUninitializedCapacity: fields.count) { entries, count in
                for index in fields.indices {
                    var entry = fields[index]
                    entry.value = DocumentValue(postgres: text, at: places[order[index]])
                    (entries.baseAddress! + index).initialize(to: entry)
                    count += 1
                }
            })
    }
}
