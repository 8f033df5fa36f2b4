import Foundation
import Switchyard

/// The values of documents in records. Tag numbers are stored on disk, so their meaning never changes.
private enum ValueTag: UInt8 {
    case null, no, yes, integer, double, timestamp, estimate, string, bytes, reference, foreignReference, geoPoint,
        array
    case vector, map
}

extension RecordWriter {
    mutating func write(_ time: Timestamp) {
        write(time.seconds)
        // The estimate flag shares a number with the fraction of the second.
        write(unsigned: UInt64(time.nanoseconds) << 1 | (time.isEstimate ? 1 : 0))
    }

    mutating func write(_ path: StoragePath) { write(path.rawValue) }
    mutating func write(_ field: FieldPath) { write(field.components) { $0.write($1) } }

    mutating func write(_ data: DocumentData) {
        nested { writer in
            writer.write(count: data.entries.count)
            for entry in data.entries {
                writer.write(entry.name)
                writer.write(entry.value)
            }
        }
    }

    mutating func write(_ value: DocumentValue) {
        switch value {
        case .null: write(tag: .null)
        case .bool(let flag): write(tag: flag ? .yes : .no)
        case .integer(let number):
            write(tag: .integer)
            write(number)
        case .double(let number):
            write(tag: .double)
            write(number)
        case .timestamp(let time):
            write(tag: time.isEstimate ? .estimate : .timestamp)
            write(time.seconds)
            write(unsigned: UInt64(time.nanoseconds))
        case .string(let text):
            write(tag: .string)
            write(text)
        case .bytes(let data):
            write(tag: .bytes)
            write(data)
        case .reference(let reference):
            write(tag: reference.origin == nil ? .reference : .foreignReference)
            write(reference.path)
            if let origin = reference.origin { write(origin) }
        case .geoPoint(let point):
            write(tag: .geoPoint)
            write(point.latitude)
            write(point.longitude)
        case .array(let elements):
            write(tag: .array)
            nested { $0.write(elements) { $0.write($1) } }
        case .vector(let numbers):
            write(tag: .vector)
            write(numbers) { $0.write($1) }
        case .map(let data):
            write(tag: .map)
            write(data)
        }
    }

    private mutating func write(tag: ValueTag) { write(byte: tag.rawValue) }
}

extension RecordReader {
    mutating func timestamp() throws(StorageError) -> Timestamp {
        let seconds = try integer()
        let fraction = try unsigned()
        return try time(seconds, fraction >> 1, isEstimate: fraction & 1 == 1)
    }

    mutating func skipTimestamp() throws(StorageError) {
        try skipNumber()
        try skipNumber()
    }

    private func time(
        _ seconds: Int64, _ nanoseconds: UInt64, isEstimate: Bool
    ) throws(StorageError) -> Timestamp {
        guard nanoseconds < 1_000_000_000 else { throw RecordReader.damage }
        return Timestamp(clampingSeconds: seconds, nanoseconds: Int32(nanoseconds), isEstimate: isEstimate)
    }

    mutating func path() throws(StorageError) -> StoragePath { StoragePath(unchecked: try string()) }

    mutating func field() throws(StorageError) -> FieldPath {
        let components = try array { reader throws(StorageError) in try reader.string() }
        guard !components.isEmpty else { throw RecordReader.damage }
        return FieldPath(unchecked: components)
    }

    mutating func documentData() throws(StorageError) -> DocumentData {
        try nested { reader throws(StorageError) in
            DocumentData(
                unsorted: try reader.array { reader throws(StorageError) in
                    let name = try reader.string()
                    return DocumentData.Entry(name: name, value: try reader.value())
                })
        }
    }

    /// Reads some of the fields and stops after the last of them: nothing can be read after this.
    mutating func documentData(only names: [String]) throws(StorageError) -> DocumentData {
        var found: [DocumentData.Entry] = []
        found.reserveCapacity(names.count)
        for _ in 0..<(try count()) where found.count < names.count {
            let bytes = try slice()
            if let name = names.first(where: { $0.hasBytes(bytes) }) {
                found.append(DocumentData.Entry(name: name, value: try value()))
            } else {
                try skipValue()
            }
        }
        return DocumentData(unsorted: found)
    }

    /// Whether all these fields are there, with values within their bounds; stops at the first that is not.
    mutating func dataFits(_ bounds: [FieldBounds]) throws(StorageError) -> Bool {
        var found = 0
        for _ in 0..<(try count()) {
            let bytes = try slice()
            guard let index = bounds.firstIndex(where: { $0.name.hasBytes(bytes) }) else {
                try skipValue()
                continue
            }
            guard bounds[index].ranks.contains(try sortRank()) else { return false }
            found += 1
            if found == bounds.count { return true }
        }
        return false
    }

    /// The rank of the next value. No text is copied for it.
    private mutating func sortRank() throws(StorageError) -> UInt64 {
        guard nextByte == ValueTag.string.rawValue else { return try value().sortRank }
        try skip(1)
        return DocumentValue.sortRank(ofString: try slice().bindMemory(to: UInt8.self))
    }

    private mutating func skipValue() throws(StorageError) {
        guard let tag = ValueTag(rawValue: try byte()) else { throw RecordReader.damage }
        switch tag {
        case .null, .no, .yes: break
        case .integer: try skipNumber()
        case .double: try skip(8)
        case .timestamp, .estimate: try skipTimestamp()
        case .string, .bytes, .reference: _ = try slice()
        case .foreignReference:
            _ = try slice()
            _ = try slice()
        case .geoPoint: try skip(16)
        case .array:
            try nested { reader throws(StorageError) in
                for _ in 0..<(try reader.count()) { try reader.skipValue() }
            }
        case .vector: try skip(8 * (try count()))
        case .map:
            try nested { reader throws(StorageError) in
                for _ in 0..<(try reader.count()) {
                    _ = try reader.slice()
                    try reader.skipValue()
                }
            }
        }
    }

    mutating func value() throws(StorageError) -> DocumentValue {
        guard let tag = ValueTag(rawValue: try byte()) else { throw RecordReader.damage }
        switch tag {
        case .null: return .null
        case .no: return .bool(false)
        case .yes: return .bool(true)
        case .integer: return .integer(try integer())
        case .double: return .double(try double())
        case .timestamp, .estimate:
            let seconds = try integer()
            return .timestamp(try time(seconds, try unsigned(), isEstimate: tag == .estimate))
        case .string: return .string(try string())
        case .bytes: return .bytes(try data())
        case .reference: return .reference(DocumentReference(try path()))
        case .foreignReference:
            let path = try path()
            return .reference(DocumentReference(path, origin: try string()))
        case .geoPoint:
            let latitude = try double()
            let longitude = try double()
            do throws(StorageError) {
                return .geoPoint(try GeoPoint(latitude: latitude, longitude: longitude))
            } catch {
                throw RecordReader.damage
            }
        case .array:
            return try nested { reader throws(StorageError) in
                .array(try reader.array { reader throws(StorageError) in try reader.value() })
            }
        case .vector: return .vector(try array { reader throws(StorageError) in try reader.double() })
        case .map: return .map(try documentData())
        }
    }
}

extension String {
    fileprivate func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        utf8.count == bytes.count
            && (bytes.isEmpty || withBytes { memcmp($0.baseAddress!, bytes.baseAddress!, bytes.count) == 0 })
    }
}
