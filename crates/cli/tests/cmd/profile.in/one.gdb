Thread 2 (Thread 0x7f12 (LWP 12)):
#0  0x00007f01 in pthread_cond_wait () from /lib64/libpthread.so.0
#1  0x00007f02 in os_event::wait (this=0x1) at os0event.cc:7
Thread 1 (Thread 0x7f11 (LWP 11)):
#0  0x00007f03 in poll () from /lib64/libc.so.6
#1  0x00007f04 in main ()
