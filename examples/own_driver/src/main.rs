//! Allocates, orders two streams with an event, and shows what the allocator did.

use sconce_base::error::Result;
use sconce_base::types::DevicePtr;
use sconce_driver::EventFlags;
use sconce_runtime::{context, event, memory, stream};

fn main() -> Result<()> {
    let driver = own_driver::install();
    let runtime = context::runtime()?;
    let [producer, consumer] = [stream::from_pool(0, 0)?, stream::from_pool(0, 0)?];

    let block = memory::alloc_on(12 << 20, producer)?;
    let at = DevicePtr(block as u64);
    runtime.driver().fill_async(at, 1, 12 << 20, producer.driver_ref())?;
    let filled = event::create(EventFlags::default())?;
    event::record(runtime, filled, producer)?;
    event::wait(runtime, consumer, filled)?;
    runtime.driver().fill_async(at, 2, 6 << 20, consumer.driver_ref())?;
    memory::record_stream(block, consumer)?;
    memory::free(block)?;
    event::synchronize(filled)?;
    event::destroy(filled)?;
    stream::synchronize_device(0)?;

    let again = memory::alloc_on(12 << 20, producer)?;
    println!("the second request got the first block: {}", again == block);
    memory::free(again)?;
    println!("{}", memory::report::summary(&memory::stats(0)?, 0, true));
    memory::empty_cache()?;
    let (allocations, bytes) = driver.memory_in_use();
    println!("left on the device: {allocations} allocations, {bytes} bytes");
    Ok(())
}
