import Foundation
import Switchyard

/// Shorthands for the values in checks. Their arguments are constants known to be valid.
extension Timestamp {
    static func at(_ seconds: Int64, microseconds: Int32 = 0) -> Timestamp {
        at(seconds, nanoseconds: microseconds * 1000)
    }

    static func at(_ seconds: Int64, nanoseconds: Int32) -> Timestamp {
        (try? Timestamp(validatingSeconds: seconds, nanoseconds: nanoseconds)) ?? .distantPast
    }
}

extension DocumentValue {
    static func time(_ seconds: Int64, microseconds: Int32 = 0) -> DocumentValue {
        .timestamp(.at(seconds, microseconds: microseconds))
    }

    static func place(_ latitude: Double, _ longitude: Double) -> DocumentValue {
        (try? GeoPoint(latitude: latitude, longitude: longitude)).map { .geoPoint($0) } ?? .null
    }

    static func link(_ path: StoragePath) -> DocumentValue { .reference(DocumentReference(path)) }
    static func blob(_ bytes: UInt8...) -> DocumentValue { .bytes(Data(bytes)) }
}
