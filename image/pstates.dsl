// Clock states for the two processors of the emulated box, so that the kernel's acpi-cpufreq driver has
// something to drive. The I/O ports behind them are nobody's: what is asked for is what reads back.
DefinitionBlock ("pstates.aml", "SSDT", 2, "LGAUGE", "PSTATES", 1)
{
    External (\_SB.CPUS.C000, DeviceObj)
    External (\_SB.CPUS.C001, DeviceObj)

    // Control and status register.
    Name (\LGPC, Package () {
        ResourceTemplate () { Register (SystemIO, 8, 0, 0x0880, ) },
        ResourceTemplate () { Register (SystemIO, 8, 0, 0x0881, ) }
    })

    // MHz, mW, two latencies in us, the octet to write, the octet that reads back.
    Name (\LGPS, Package () {
        Package () { 2600, 35000, 10, 10, 0, 0 },
        Package () { 2000, 25000, 10, 10, 1, 1 },
        Package () { 1600, 20000, 10, 10, 2, 2 },
        Package () { 1200, 15000, 10, 10, 3, 3 }
    })

    Scope (\_SB.CPUS.C000)
    {
        Method (_PCT, 0, Serialized) { Return (\LGPC) }
        Method (_PSS, 0, Serialized) { Return (\LGPS) }
        Name (_PPC, 0)
    }

    Scope (\_SB.CPUS.C001)
    {
        Method (_PCT, 0, Serialized) { Return (\LGPC) }
        Method (_PSS, 0, Serialized) { Return (\LGPS) }
        Name (_PPC, 0)
    }
}
